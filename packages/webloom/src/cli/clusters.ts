/** Commands that look at a crawl from outside its processes, or tell it something. */

import { UsageError } from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import type { RenewFlags } from '../commands/budgets.ts'
import type { HostFlags } from '../commands/host.ts'
import type { RunsFlags } from '../commands/runs.ts'
import type { StatusFlags } from '../commands/status.ts'
import { type LoadedConfig, projectConfig } from '../loading/config.ts'
import { givenSettings, spiderArguments } from '../loading/crawl-flags.ts'
import { namedSpider } from '../loading/named-spider.ts'
import { loadProjectSpiders } from '../loading/spider-loader.ts'
import {
  type CliCommand,
  command,
  type Example,
  flag,
  group,
  type OptionsFor,
  SPIDER_OPTIONS,
  value,
} from './command.ts'

type Named = Pick<OutsideFlags, 'set' | 'argument'>
type Act<Flags> = (Class: SpiderClass, flags: Flags, config: LoadedConfig) => Promise<void>

/** Makes a command that is given the spider whose crawl it is about, and nothing else. */
function outside<Flags extends Named>(
  form: string,
  help: string,
  options: OptionsFor<Flags>,
  load: () => Promise<Act<Flags>>,
  examples: readonly Example[],
): CliCommand {
  return command<Flags, [name: string]>(
    form,
    help,
    options,
    async (flags, [name]) => {
      const [act, { Class, config }] = [await load(), await namedSpider(name, flags)]
      await act(Class, flags, config)
    },
    examples,
  )
}

const control = () => import('../commands/crawl-control.ts')
const JSON_TOO = { ...SPIDER_OPTIONS, json: flag('--json', 'as JSON') }

export const status = outside<StatusFlags>(
  'status <spider>',
  'print what the crawl of a spider is doing, on all machines',
  { ...JSON_TOO, host: value('--host <name>', 'only this host, with its state and the worker that has it') },
  async () => (await import('../commands/status.ts')).status,
  [
    ['webloom status quotes', 'queue, workers, hosts, totals, and memory of each Redis'],
    ['webloom status quotes --host quotes.toscrape.com', 'one host: its state, and which worker has it'],
    ['webloom status quotes --json', 'for a program to read'],
  ],
)

export const scale = outside<OutsideFlags>(
  'scale <spider>',
  'print how many workers of a crawl would help now',
  JSON_TOO,
  async () => (await import('../commands/scale.ts')).scale,
  [
    ['webloom scale quotes', 'by what the hosts allow and by how fast a worker is'],
    ['webloom scale quotes --json', 'for an autoscaler: .desired'],
  ],
)

export const runs = command<RunsFlags, [name: string | undefined]>(
  'runs [spider]',
  'print the results of a spider’s last crawls; without a spider, the latest of each crawl of the project',
  {
    ...JSON_TOO,
    compare: flag(
      '--compare',
      'compare the last run with the one before, with the share of items that have each field',
    ),
    forget: flag('--forget', 'delete the records of all runs'),
  },
  async (flags, [name]) => {
    const act = await import('../commands/runs.ts')
    if (name !== undefined) {
      const { crawl, flags: all } = act.crawlTyped(name, flags)
      const { Class, config } = await namedSpider(crawl, all)
      return act.runs(Class, all, config)
    }
    if (flags.compare || flags.forget)
      throw new UsageError(
        'WL_USAGE',
        `${flags.compare ? '--compare' : '--forget'} is about one spider: webloom runs <spider> ${flags.compare ? '--compare' : '--forget'}`,
      )
    const command = givenSettings(flags)
    const config = await projectConfig(process.cwd(), command)
    const { spiders, problems } = await loadProjectSpiders(config, spiderArguments(flags), command)
    await act.latestRuns(spiders, flags, config)
    if (problems.length > 0) throw new UsageError('WL_SPIDER_LOAD', problems.join('\n\n'))
  },
  [
    ['webloom runs quotes', 'when each began, how it ended, pages, items and errors'],
    ['webloom runs quotes --compare', 'does the spider bring less than last time?'],
    ['webloom runs', 'the latest one of each crawl of the project, of each CRAWL_ID, too'],
    ['webloom runs quotes@2026-11 --json', 'those with that CRAWL_ID, for a program to read'],
  ],
)

export const budgets = group(
  'budgets',
  'let a crawl go on today that waits for the next day, as its budget is spent (BUDGETS)',
  [
    command<RenewFlags, [name: string]>(
      'renew <spider>',
      'forget what was spent today: as much may be spent once more',
      { ...JSON_TOO, host: value('--host <name>', 'only the budget of this host') },
      async (flags, [name]) => {
        const { renewBudgets } = await import('../commands/budgets.ts')
        await renewBudgets(await namedSpider(name, flags), flags)
      },
      [
        ['webloom budgets renew quotes', 'what waits goes on: 3,000 hosts a worker within five minutes'],
        ['webloom budgets renew quotes --host quotes.toscrape.com', 'only this host'],
      ],
    ),
  ],
  [
    ['webloom budgets renew quotes', 'what waits goes on: 3,000 hosts a worker within five minutes'],
    ['webloom budgets renew quotes -s CRAWL_ID=2026-11', 'in one of several crawls of that spider'],
  ],
)

export const monitors = group(
  'monitors',
  'try whether people hear of what the monitors of a spider find',
  [
    command<OutsideFlags, [name: string]>(
      'test <spider>',
      'send a message that says it is a test to each webhook, by mail and to the log, and print what came back',
      JSON_TOO,
      async (flags, [name]) => {
        const { testMonitors } = await import('../commands/monitors.ts')
        return testMonitors(await namedSpider(name, flags), flags)
      },
      [
        [
          'webloom monitors test quotes',
          'by the channels that its crawl has; exit code 0 when each has taken it',
        ],
        ['webloom monitors test quotes -s MONITOR_MAIL_TO=ops@example.com', 'by mail, too'],
      ],
    ),
  ],
  [
    ['webloom monitors test quotes', 'is the webhook right?'],
    ['webloom monitors test quotes --json', 'for a program to read'],
  ],
)

export const pause = outside<Named>(
  'pause <spider>',
  'pause a crawl: no worker begins a new request',
  SPIDER_OPTIONS,
  async () => (await control()).pause,
  [
    ['webloom pause quotes', 'within two seconds no worker begins a new request, until webloom resume'],
    ['webloom pause quotes -s CRAWL_ID=2026-11', 'pauses one of several crawls of that spider'],
  ],
)

export const resume = outside<Named>(
  'resume <spider>',
  'let a paused crawl go on',
  SPIDER_OPTIONS,
  async () => (await control()).resume,
  [
    ['webloom resume quotes', 'all workers go on'],
    ['webloom resume quotes -s CRAWL_ID=2026-11', 'resumes one of several crawls of that spider'],
  ],
)

export const stop = outside<Named & { readonly reason?: string }>(
  'stop <spider>',
  'end a crawl for all its workers',
  { ...SPIDER_OPTIONS, reason: value('--reason <text>', 'the finish_reason (default stopped)') },
  async () => (await control()).stop,
  [
    ['webloom stop quotes', 'workers finish what is in flight; requests that wait stay on Redis'],
    ['webloom stop quotes --reason maintenance', 'the finish_reason in the stats of all workers'],
  ],
)

export const host = command<HostFlags, [name: string, host: string]>(
  'host <spider> <host>',
  'print or change how a running crawl treats one host',
  {
    ...JSON_TOO,
    delay: value('--delay <time>', 'the time between two requests: 2, 500ms, or default'),
    pause: value('--pause <time>', 'send it no request for this long: 90s, 10m, 2h'),
    resume: flag('--resume', 'end its pause, also one that the host asked for'),
    boost: flag('--boost', 'its requests go before those of other hosts'),
    unboost: flag('--unboost', 'its requests no longer go first'),
  },
  async (flags, [name, of]) => {
    const { Class, config } = await namedSpider(name, flags)
    await (await import('../commands/host.ts')).host(Class, of, flags, config)
  },
  [
    [
      'webloom host quotes quotes.toscrape.com --delay 2',
      'two seconds between requests, for all workers at once',
    ],
    [
      'webloom host quotes quotes.toscrape.com --pause 10m',
      'no request to it for ten minutes; --resume ends that',
    ],
    ['webloom host quotes quotes.toscrape.com --boost', 'its requests go first, at its own pace'],
    ['webloom host quotes quotes.toscrape.com', 'prints the orders for this host, and what waits'],
  ],
)

export const clear = outside<Named & { readonly force?: boolean }>(
  'clear <spider>',
  'delete queue, requests seen, record and stats of a crawl',
  {
    ...SPIDER_OPTIONS,
    force: flag('--force', 'even while workers are present, or other crawls use its dupefilter'),
  },
  async () => (await control()).clear,
  [
    ['webloom clear quotes', 'the next crawl begins from nothing'],
    ['webloom clear quotes --force', 'even while workers are present'],
  ],
)
