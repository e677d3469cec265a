/** `webloom dash`: the dashboard of all crawls of some Redis servers. */

import { UsageError } from '@webloom/core'
import { dashboardPackage, dashToken } from '../desk/dashboard-package.ts'
import { RegistryDesks } from '../desk/registry-desks.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { type DeskServerFlags, deskServers } from '../redis/desk-servers.ts'
import { commandName } from '../terminal/resume-line.ts'

export interface DashFlags extends DeskServerFlags {
  readonly host?: string
  readonly port?: string
  readonly control?: boolean
  readonly tokenFile?: string
}

/** Serves until it is stopped by a signal. */
export async function dash(
  spiders: readonly string[],
  flags: DashFlags,
  config: LoadedConfig | undefined,
): Promise<void> {
  const { startDashboard } = await dashboardPackage('webloom dash')
  const token = dashToken(flags.tokenFile)
  const desks = new RegistryDesks(deskServers(flags, config), spiders)
  const { host = '127.0.0.1', port } = flags
  const dashboard = await startDashboard({
    desks,
    host,
    ...(port !== undefined && { port: portOf(port) }),
    ...(token !== undefined && { token }),
    control: flags.control === true,
  }).catch((error: NodeJS.ErrnoException) => {
    throw cannotListen(error, host, port)
  })
  const password = token === undefined ? '' : '; a browser asks for a password: the token'
  console.log(`the dashboard is at ${dashboard.url}  (Ctrl-C ends it${password})`)
  await stopped()
  await dashboard.close()
  await desks.close()
}

function portOf(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw new UsageError('WL_USAGE', `--port is ${JSON.stringify(text)}; expected a number from 0 to 65535`)
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: string | undefined): Error {
  const why = {
    EADDRINUSE: `another process listens there. Name another port:  ${commandName()} dash --port ${Number(port ?? 6480) + 1}`,
    EADDRNOTAVAIL: 'this machine has no such address',
    EACCES: 'ports below 1024 need more rights',
  }[error.code ?? '']
  if (why === undefined) return error
  return new UsageError('WL_USAGE', `the dashboard cannot listen on ${host}, port ${port ?? 6480}: ${why}`)
}

function stopped(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve())
  return promise
}
