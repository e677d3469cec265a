/** `webloom worker --all`: worker processes for every crawl of a project, and runs that begin at their hours. */

import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, Settings, UsageError } from '@webloom/core'
import { withMetricsPort } from '../desk/metrics-server.ts'
import { EXIT } from '../exit-codes.ts'
import { projectConfig } from '../loading/config.ts'
import { givenSettings, settingsLayers } from '../loading/crawl-flags.ts'
import { CrawlsProcesses } from '../processes/crawls-processes.ts'
import { trialMs, tryInProcess } from '../processes/trial-process.ts'
import { withoutExits } from '../processes/without-exits.ts'
import { startedWith } from '../schedules/flag-words.ts'
import { openPlaces } from '../schedules/open-places.ts'
import { ProjectCrawls, type WantedCrawl } from '../schedules/project-crawls.ts'
import { type SchedulePlace, schedulePlaces } from '../schedules/schedule-places.ts'
import { shownError } from '../schedules/shown-error.ts'
import { loggerOf, logsAreForPeople } from '../terminal/logger-of.ts'
import { processesOf, type WorkerFlags } from './worker.ts'

/** How long a run that is due waits at most, and a crawl that wants workers. */
const LOOK_EVERY_MS = 1000

/** Serves them until a signal comes. Returns the exit code. */
export function workerAll(flags: WorkerFlags): Promise<number> {
  return withoutExits(() => serveAll(flags))
}

async function serveAll(flags: WorkerFlags): Promise<number> {
  refuseOfOneCrawl(flags)
  const config = await projectConfig(process.cwd(), givenSettings(flags))
  const written = settingsLayers(flags, config)
  const settings = Settings.fromLayers(written.layers, written.places)
  settings.validate()
  const logger = loggerOf(settings)
  outliveAccidents(logger)
  const { places, problems } = await schedulePlaces(flags, config, logger)
  for (const problem of problems) logger.warn(`not served: ${problem}`)
  const served = places.filter(({ spiders }) => spiders.length > 0)
  const names = served.flatMap(({ spiders }) => spiders.map(({ name }) => name))
  if (names.length === 0)
    throw new UsageError(
      'WL_USAGE',
      'no spider of this project can be served. webloom list  shows what there is',
    )
  const own = withoutAll(process.argv.slice(2))
  const crawls = new ProjectCrawls({
    ...{ flags, config, logger },
    tries: ({ name }, its, asked) => {
      const { words: itsWords, env } = startedWith(its)
      const timeoutMs = trialMs(asked.settings.getMs('COMPONENT_TIMEOUT'))
      return tryInProcess({
        program: process.argv[1]!,
        argv: ['worker', name, ...own, ...itsWords],
        ...{ env, timeoutMs },
      })
    },
  })
  const ending = new AbortController()
  const open: SchedulePlace[] = []
  const opened = (place: SchedulePlace) => {
    open.push(place)
    return crawls.add(place)
  }
  await openPlaces(served, { opened, signal: ending.signal, logger })
  const count = processesOf(flags.processes) ?? availableParallelism()
  const words = [...own, ...(isForPeople(settings) ? ['-s', 'LOG_FORMAT=pretty'] : [])]
  const metricsPort = settings.getInt('METRICS_PORT')
  const processes = new CrawlsProcesses<WantedCrawl>({
    places: count,
    program: process.argv[1]!,
    startedWith: ({ spider, flags: its }, place) => {
      const { words: itsWords, env } = startedWith(its)
      return {
        argv: ['worker', spider, ...withMetricsPort([...words, ...itsWords], metricsPort, place)],
        env,
      }
    },
    blockedMsMax: settings.getMs('WORKER_BLOCKED_MAX'),
    onRefused: (crawl, why) => crawls.refused(crawl, why),
    logger,
  })
  logger.info(
    `serves ${names.join(', ')}, with ${count} process${count === 1 ? '' : 'es'} or one for each crawl; begins runs that are due`,
  )
  const code = await untilSignal(async (signal) => {
    while (!signal.aborted) {
      const wanted = await crawls.look()
      if (!signal.aborted) processes.serve(wanted)
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    }
  }, processes)
  ending.abort()
  for (const { servers } of open) servers.close()
  return code
}

/** What code of an author's does here, whose files are loaded, must not end the crawls of all the others. */
function outliveAccidents(logger: Logger): void {
  process.on('unhandledRejection', (error: unknown) =>
    logger.error(
      { err: shownError(error) },
      'a promise that no code awaits was rejected; all crawls are served on',
    ),
  )
  process.on('uncaughtException', (error: Error & { code?: string }) => {
    // The reader of standard output has gone.
    if (error.code === 'EPIPE') return
    logger.error(
      { err: shownError(error) },
      'an error was thrown outside of any callback; all crawls are served on',
    )
  })
}

/** A second signal reaches the processes, too, and ends them at once. */
async function untilSignal(
  serve: (signal: AbortSignal) => Promise<void>,
  processes: CrawlsProcesses<WantedCrawl>,
): Promise<number> {
  const stopping = new AbortController()
  const { promise: stopped, resolve } = Promise.withResolvers<number>()
  const onSignal = (signal: 'SIGINT' | 'SIGTERM') => {
    stopping.abort()
    void processes.stop().then(() => resolve(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated))
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    // A look that waits for a Redis that is away must not hold up the end.
    return await Promise.race([stopped, serve(stopping.signal).then(() => stopped)])
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

function refuseOfOneCrawl({ new: begins, stay }: WorkerFlags): void {
  const flag = begins ? '--new' : stay ? '--stay' : undefined
  if (flag === undefined) return
  throw new UsageError(
    'WL_USAGE',
    `${flag} is about the crawl of one spider, and --all serves those of all. ${
      begins
        ? 'To begin one now:  webloom schedule run <name>, or webloom worker <spider> --new'
        : 'Write:  webloom worker --all, which stays until a signal ends it'
    }`,
  )
}

/** Returns the command line without `--all` and `--processes`: each process is started with the rest. */
function withoutAll(argv: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!
    if (word === '--processes') at++
    else if (word !== '--all' && !word.startsWith('--processes=')) kept.push(word)
  }
  // The command comes before its flags.
  const command = kept.indexOf('worker')
  return kept.filter((_word, at) => at !== command)
}

/** Lines of its processes come through here, so that they would take standard error for a program's. */
function isForPeople(settings: Settings): boolean {
  return logsAreForPeople(settings) && settings.get('LOG_FILE') === null
}
