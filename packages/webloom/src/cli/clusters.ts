/** Commands that look at a crawl from outside its processes, or tell it something. */

import type { SpiderClass } from '@webloom/spider'
import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import type { StatusFlags } from '../commands/status.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { namedSpider } from '../loading/named-spider.ts'
import { type CliCommand, command, flag, group, type OptionsFor, SPIDER_OPTIONS, value } from './command.ts'

type Named = Pick<OutsideFlags, 'set' | 'argument'>
type Act<Flags> = (Class: SpiderClass, flags: Flags, config: LoadedConfig) => Promise<void>

/** A command that is given the spider whose crawl it is about, and nothing else. */
function outside<Flags extends Named>(
  form: string,
  help: string,
  options: OptionsFor<Flags>,
  load: () => Promise<Act<Flags>>,
): CliCommand {
  return command<Flags, [name: string]>(form, help, options, async (flags, [name]) => {
    const [act, { Class, config }] = [await load(), await namedSpider(name, flags)]
    await act(Class, flags, config)
  })
}

const control = () => import('../commands/crawl-control.ts')
const JSON_TOO = { ...SPIDER_OPTIONS, json: flag('--json', 'as JSON') }

export const status = outside<StatusFlags>(
  'status <spider>',
  'print what the crawl of a spider is doing, on all machines',
  { ...JSON_TOO, host: value('--host <name>', 'of the hosts this one alone, with its state and who has it') },
  async () => (await import('../commands/status.ts')).status,
)

export const pause = outside<Named>(
  'pause <spider>',
  'let all workers of a crawl begin nothing new',
  SPIDER_OPTIONS,
  async () => (await control()).pause,
)

export const resume = outside<Named>(
  'resume <spider>',
  'let a paused crawl go on',
  SPIDER_OPTIONS,
  async () => (await control()).resume,
)

export const stop = outside<Named & { readonly reason?: string }>(
  'stop <spider>',
  'end a crawl for all its workers',
  { ...SPIDER_OPTIONS, reason: value('--reason <text>', 'the finish_reason (default stopped)') },
  async () => (await control()).stop,
)

export const clear = outside<Named & { readonly force?: boolean }>(
  'clear <spider>',
  'delete queue, requests met, record and stats of a crawl',
  { ...SPIDER_OPTIONS, force: flag('--force', 'even while workers are present') },
  async () => (await control()).clear,
)

export const quarantine = group(
  'quarantine',
  'requests in quarantine: they killed their workers, or every worker rejected them',
  [
    outside<OutsideFlags>('list <spider>', 'print them with their history', JSON_TOO, async () => {
      const { quarantineList } = await import('../commands/quarantine.ts')
      return quarantineList
    }),
    command<OutsideFlags & { readonly all?: boolean }, [name: string, ids: string[]]>(
      'retry <spider> [ids...]',
      'queue them again',
      { ...SPIDER_OPTIONS, all: flag('--all', 'every one'), json: flag('--json', 'as JSON') },
      async (flags, [name, ids]) => {
        const { quarantineRetry } = await import('../commands/quarantine.ts')
        const { Class, config } = await namedSpider(name, flags)
        await quarantineRetry(Class, ids, flags, config)
      },
    ),
  ],
)
