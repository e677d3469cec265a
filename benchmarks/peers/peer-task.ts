/** What each system is told, as JSON in the file its command line names; and what it tells of itself at its end. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface PeerTask {
  /** Where the crawl begins; every page, for systems that follow no links. */
  readonly seeds: readonly string[]
  readonly concurrency: number
  /** True: each page's title is selected, too. */
  readonly select: boolean
  /** Which of several forms of the system runs. */
  readonly flavour: string
  readonly redis: string | null
  /** A fresh folder for systems that write to disk. */
  readonly storage: string | null
}

export interface ProcessUse {
  readonly cpuSeconds: number
  readonly rssMb: number
}

export async function reportUse(system: (task: PeerTask) => Promise<unknown>): Promise<void> {
  await system(JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as PeerTask)
  const { user, system: kernel } = process.cpuUsage()
  const use: ProcessUse = {
    cpuSeconds: (user + kernel) / 1e6,
    rssMb: process.resourceUsage().maxRSS / 1024,
  }
  // Some systems leave timers behind.
  process.stdout.write(`${JSON.stringify(use)}\n`, () => process.exit())
}

/** A package of `.installed`, which is no dependency of ours. */
export async function peerModule<T>(name: string): Promise<T> {
  const require = createRequire(join(import.meta.dirname, '.installed', 'package.json'))
  return (await import(pathToFileURL(require.resolve(name)).href)) as T
}
