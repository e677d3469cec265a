import { UsageError } from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import { crawlerFromOutside } from '../crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { runWorkerProcesses } from '../worker-processes.ts'
import type { CrawlFlags } from './crawl-options.ts'
import { runCrawl } from './run-crawl.ts'

/** The flags of `worker` beside those of `crawl`. */
export interface WorkerFlags extends CrawlFlags {
  readonly processes?: string
  readonly stay?: boolean
  readonly new?: boolean
}

/** Takes part in the cluster's crawl of a spider, with one process or several. Answers the exit code. */
export async function worker(Class: SpiderClass, flags: WorkerFlags, config: LoadedConfig): Promise<number> {
  const count = processesOf(flags.processes)
  if (count !== undefined) return supervise(Class, count, flags, config)
  return runCrawl(Class, flags, config, {
    part: { begins: flags.new ?? false, isWorker: true },
    ...(flags.stay && { stays: true }),
  })
}

async function supervise(
  Class: SpiderClass,
  count: number,
  flags: WorkerFlags,
  config: LoadedConfig,
): Promise<number> {
  const { spider, settings, logger } = await crawlerFromOutside(Class, flags, config)
  logger.info(`${count} worker processes of spider ${spider.name}`)
  return runWorkerProcesses({
    count,
    program: process.argv[1]!,
    argv: withoutProcesses(process.argv.slice(2)),
    blockedMsMax: settings.getFloat('WORKER_BLOCKED_MAX') * 1000,
    logger,
  })
}

function processesOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new UsageError(
    'WL_USAGE',
    `--processes is ${JSON.stringify(text)}; expected a whole number from 1 on`,
  )
}

/** The command line of one of the processes. */
function withoutProcesses(argv: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!
    if (word === '--processes') at++
    else if (!word.startsWith('--processes=')) kept.push(word)
  }
  return kept
}
