/** Commands about runs that begin by themselves, at their hours. */

import { UsageError } from '@webloom/core'
import type { ScheduleFlags, SchedulesFlags } from '../commands/schedule.ts'
import { namedSpider } from '../loading/named-spider.ts'
import { isSpiderFile } from '../loading/spider-loader.ts'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'
import { command, flag, group, SPIDER_OPTIONS, value } from './command.ts'
import { CRAWL_OPTIONS } from './spider-options.ts'

const act = () => import('../commands/schedule.ts')
const OF_ALL = { ...SPIDER_OPTIONS, json: flag('--json', 'as JSON') }

export const schedule = group(
  'schedule',
  'begin the runs of a spider at their hours, by cron’s expressions (webloom worker --all)',
  [
    command<ScheduleFlags, [name: string, cron: string]>(
      'set <spider> <cron>',
      'keep a schedule; without the word set, too',
      {
        ...SPIDER_OPTIONS,
        output: CRAWL_OPTIONS.output,
        overwriteOutput: CRAWL_OPTIONS.overwriteOutput,
        tz: value('--tz <zone>', 'the time zone that is meant (default: this machine’s)'),
        name: value('--name <name>', 'the schedule’s name (default: the spider’s, with its CRAWL_ID)'),
        json: flag('--json', 'as JSON'),
      },
      async (flags, [name, cron]) => {
        if (isSpiderFile(name))
          throw new UsageError(
            'WL_USAGE',
            `webloom worker --all, which begins scheduled runs, finds spiders of a project by their names, and ${name} is a file. Put it into the project’s folder spiders, and name the spider; or use cron:  ${cron} cd ${process.cwd()} && npx webloom runspider ${name}`,
          )
        await (await act()).setSchedule(await namedSpider(name, flags), cron, flags)
      },
      [
        ["webloom schedule set quotes '0 6 * * *' --tz Europe/Berlin", 'each day at six'],
        [
          "webloom schedule set quotes '0 6 * * 1-5' -O quotes.jsonl -a tag=love",
          'on workdays, with an output and an argument',
        ],
        [
          "webloom schedule set quotes '0 * * * *' -s CRAWL_ID=news --name news",
          'a crawl of its own beside the other, each hour',
        ],
      ],
      {
        isDefault: true,
        // Who comes from crontab quotes nothing.
        excess: ([spider = '<spider>']) =>
          `Quote the expression, as the shell makes file names of its *:  ${commandName()} schedule ${shellQuoted(spider)} '0 6 * * *'`,
      },
    ),
    command<SchedulesFlags, []>(
      'list',
      'print the schedules, when each is due, and how it went the last time',
      OF_ALL,
      async (flags) => (await act()).listSchedules(flags),
      [
        ['webloom schedule list', 'the next ones first'],
        ['webloom schedule list --json', 'for a program to read'],
      ],
    ),
    command<SchedulesFlags, [name: string]>(
      'rm <schedule>',
      'delete a schedule; a run that has begun goes on',
      OF_ALL,
      async (flags, [name]) => (await act()).removeSchedule(name, flags),
      [
        ['webloom schedule rm quotes', 'webloom stop quotes  ends a run that has begun'],
        ['webloom schedule rm quotes@news', 'the one with CRAWL_ID=news'],
      ],
    ),
    command<SchedulesFlags, [name: string]>(
      'run <schedule>',
      'begin a run of a schedule now, besides those at its hours',
      OF_ALL,
      async (flags, [name]) => (await act()).runSchedule(name, flags),
      [
        [
          'webloom schedule run quotes',
          'with the settings of the schedule, on whichever machine serves the project',
        ],
        ['webloom schedule run quotes@news', 'the one with CRAWL_ID=news'],
      ],
    ),
  ],
  [
    ["webloom schedule quotes '0 6 * * *'", 'each day at six; webloom worker --all  begins the runs'],
    ['webloom schedule list', 'when is what due?'],
    ['webloom schedule run quotes', 'not at six, but now'],
    ['webloom schedule rm quotes', 'no more'],
  ],
)
