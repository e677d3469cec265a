import { type DashboardOptions, dashboardApp } from './dashboard-app.tsx'
import { listenOn } from './serving/listen-on.ts'
import { isLoopback } from './serving/security.ts'

export interface StartDashboardOptions extends Pick<DashboardOptions, 'desks'> {
  /** The address that it listens on; default 127.0.0.1. */
  readonly host?: string
  /** Default 6480; 0: any that is free. */
  readonly port?: number
}

/** A dashboard that listens. */
export interface Dashboard {
  /** `http://127.0.0.1:6480/`. */
  readonly url: string
  readonly port: number
  /** Ends its answers and lets go of the port. The desks are their giver's. */
  close(): Promise<void>
}

export const DASHBOARD_PORT = 6480

/** Rejects when the address or port cannot be had. */
export async function startDashboard({
  desks,
  host = '127.0.0.1',
  port = DASHBOARD_PORT,
}: StartDashboardOptions): Promise<Dashboard> {
  const closing = new AbortController()
  const app = dashboardApp({ desks, isOnLoopback: isLoopback(host), closing: closing.signal })
  const listening = await listenOn(app.fetch, { host, port })
  return {
    url: listening.url,
    port: listening.port,
    async close() {
      closing.abort()
      await listening.close()
    },
  }
}
