/** `webloom mcp`: the crawls of some Redis servers, as tools for an assistant, over standard input and output. */

import { Console } from 'node:console'
import { dashboardPackage } from '../desk/dashboard-package.ts'
import { RegistryDesks } from '../desk/registry-desks.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { type DeskServerFlags, deskServers } from '../redis/desk-servers.ts'
import { visible } from '../terminal/sanitize.ts'

export interface McpFlags extends DeskServerFlags {
  readonly control?: boolean
}

/** Serves until its input ends or a signal comes. */
export async function mcp(
  spiders: readonly string[],
  flags: McpFlags,
  loadConfig: () => Promise<LoadedConfig | undefined>,
): Promise<void> {
  // Standard output is the protocol's: what a config prints must not come between.
  globalThis.console = new Console(process.stderr, process.stderr)
  const { serveMcp } = await dashboardPackage('webloom mcp')
  const desks = new RegistryDesks(deskServers(flags, await loadConfig(), 'webloom mcp'), spiders)
  const ending = new AbortController()
  process.once('SIGINT', () => ending.abort()).once('SIGTERM', () => ending.abort())
  await serveMcp({
    desks,
    control: flags.control === true,
    input: process.stdin,
    output: process.stdout,
    signal: ending.signal,
    onTrouble: (words) => console.error(visible(`webloom mcp: ${words}`)),
  })
  await desks.close()
}
