import { UsageError } from '@webloom/core'
import { type DashboardOptions, dashboardApp } from './dashboard-app.tsx'
import { listenOn } from './serving/listen-on.ts'
import { isLoopback } from './serving/security.ts'
import { TOKEN_CHARS_MIN } from './serving/token.ts'

export interface StartDashboardOptions extends Pick<DashboardOptions, 'desks' | 'token' | 'control'> {
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

/**
 * Rejects when it cannot listen at the address and port, and with `UsageError` when others can reach it and nothing asks them for a token.
 */
export async function startDashboard({
  desks,
  host = '127.0.0.1',
  port = DASHBOARD_PORT,
  token,
  control = false,
}: StartDashboardOptions): Promise<Dashboard> {
  checkAccess(host, token)
  const closing = new AbortController()
  const app = dashboardApp({
    desks,
    isOnLoopback: isLoopback(host),
    ...(token !== undefined && { token }),
    control,
    closing: closing.signal,
  })
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

function checkAccess(host: string, token: string | undefined): void {
  if (token === undefined && !isLoopback(host))
    throw new UsageError(
      'WL_USAGE',
      `on ${host} others can reach the dashboard, so it needs a token. Give it one:  export WEBLOOM_DASH_TOKEN=$(openssl rand -hex 24)  or in a file of mode 0600, by --token-file`,
    )
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new UsageError(
      'WL_USAGE',
      'the token has blanks or signs that no header can have. Make one:  openssl rand -hex 24',
    )
  if (token !== undefined && token.length < TOKEN_CHARS_MIN)
    throw new UsageError(
      'WL_USAGE',
      `the token has ${token.length} characters; ${TOKEN_CHARS_MIN} are the least. Make one:  openssl rand -hex 24`,
    )
}
