import { UsageError } from '@webloom/core'
import { mergedStats } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import { crawlerFromOutside } from '../assembly/crawl-from-outside.ts'
import { withMetricsPort } from '../desk/metrics-server.ts'
import type { LoadedConfig } from '../loading/config.ts'
import type { CrawlFlags } from '../loading/crawl-flags.ts'
import { runWorkerProcesses } from '../processes/worker-processes.ts'
import { workersScreen } from '../progress/workers-screen.ts'
import { logsAreForPeople } from '../terminal/logger-of.ts'
import { type RunMode, runCrawl, showStats } from './run-crawl.ts'

/** The flags of `worker` beside those of `crawl`. */
export interface WorkerFlags extends CrawlFlags {
  readonly processes?: string
  readonly stay?: boolean
  readonly new?: boolean
  /** Serves every crawl of the project: commands/worker-all.ts. */
  readonly all?: boolean
}

/** Takes part in the cluster's crawl of a spider, with one process or several. Returns the exit code. */
export async function worker(
  Class: SpiderClass,
  flags: WorkerFlags,
  config: LoadedConfig,
  timed: Pick<RunMode, 'times'> = {},
): Promise<number> {
  const count = processesOf(flags.processes)
  if (count !== undefined) return supervise(Class, count, flags, config)
  return runCrawl(Class, flags, config, {
    part: { begins: flags.new ?? false, isWorker: true },
    ...(flags.stay && { stays: true }),
    ...timed,
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
  const view = workersScreen(`${spider.name}, ${count} workers`, settings)
  const own = withoutProcesses(process.argv.slice(2))
  // What it makes lines for people of is read as JSON, whatever LOG_FORMAT says.
  const argv = view?.readsJson ? [...own, '-s', 'LOG_FORMAT=json'] : own
  const metricsPort = settings.getInt('METRICS_PORT')
  try {
    return await runWorkerProcesses({
      count,
      program: process.argv[1]!,
      argvOf: (place) => withMetricsPort(argv, metricsPort, place),
      blockedMsMax: settings.getMs('WORKER_BLOCKED_MAX'),
      logger,
      ...(view && { view }),
    })
  } finally {
    view?.close()
    const told = view?.told ?? []
    if (told.length > 0 && settings.getBool('STATS_DUMP') && logsAreForPeople(settings))
      showStats(`final stats of ${told.length} worker processes together`, mergedStats(told))
  }
}

/** Undefined where it was not given. */
export function processesOf(text: string | undefined): number | undefined {
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
