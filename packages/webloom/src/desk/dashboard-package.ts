/** The package of the dashboard, which is imported when it is asked for, and the token that it asks for. */

import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CrawlDesks, type Health, type StatValue, UsageError } from '@webloom/core'

/** What commands use of it. */
export interface DashboardPackage {
  startDashboard(options: {
    readonly desks: CrawlDesks
    readonly host?: string
    readonly port?: number
    readonly token?: string
    readonly control?: boolean
  }): Promise<{ readonly url: string; close(): Promise<void> }>
  startMetrics(options: {
    readonly crawl: string
    readonly stats: () => Readonly<Record<string, StatValue>>
    readonly activity: () => { readonly downloading: number; readonly scraping: number }
    readonly health: Health
    readonly host: string
    readonly port: number
  }): Promise<{ readonly url: string; close(): Promise<void> }>
  serveMcp(options: {
    readonly desks: CrawlDesks
    readonly control: boolean
    readonly input: NodeJS.ReadStream
    readonly output: NodeJS.WriteStream
    readonly onTrouble?: (words: string) => void
    readonly signal?: AbortSignal
  }): Promise<void>
}

const PACKAGE = '@webloom/dashboard'

/**
 * It is not a dependency of webloom: found beside it, or in the project of this folder.
 *
 * @param user what needs it, for the error
 */
export async function dashboardPackage(user = 'webloom dash'): Promise<DashboardPackage> {
  const inProject = createRequire(join(process.cwd(), 'package.json'))
  const places = [() => PACKAGE, () => pathToFileURL(inProject.resolve(PACKAGE)).href]
  for (const place of places) {
    try {
      return (await import(place())) as DashboardPackage
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  throw new UsageError(
    'WL_USAGE',
    `${user} needs the package ${PACKAGE}, which is not installed. Install it:  npm install ${PACKAGE}`,
  )
}

/** The package itself, and not one that it needs. */
function isMissing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return /^(?:ERR_)?MODULE_NOT_FOUND$/.test(code ?? '') && message.includes(PACKAGE)
}

const TOKEN_FILE_BYTES_MAX = 4096

/** Returns the token from a file that nobody else may read, or from the environment; undefined where none is given. */
export function dashToken(file?: string, env = process.env): string | undefined {
  if (file !== undefined) return tokenIn(file)
  return env.WEBLOOM_DASH_TOKEN || undefined
}

function tokenIn(file: string): string {
  const { mode, size } = found(file)
  const others = mode & 0o077
  // Windows has no such bits.
  if (others !== 0 && process.platform !== 'win32')
    throw new UsageError(
      'WL_USAGE',
      `--token-file: others can read ${file} (mode ${(mode & 0o777).toString(8)}). Make it yours alone:  chmod 600 ${file}`,
    )
  const token = size > TOKEN_FILE_BYTES_MAX ? '' : readFileSync(file, 'utf8').trim()
  if (token !== '') return token
  throw new UsageError(
    'WL_USAGE',
    `--token-file: ${file} has ${size === 0 ? 'nothing in it' : 'no token'}. Write one:  (umask 077; openssl rand -hex 24 > ${file})`,
  )
}

function found(file: string): { readonly mode: number; readonly size: number } {
  try {
    return statSync(file)
  } catch (error) {
    throw new UsageError('WL_USAGE', `--token-file: ${file} cannot be read: ${(error as Error).message}`)
  }
}
