/** What `webloom schedule` and `webloom worker --all` answer; what runs then become is in the soak. */

import { type RedisServer, startRedis, type TempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { projectFolder } from '../projects/project-folder.ts'
import { inSoaks } from '../setup/soaks.ts'

const line = new CommandLine()
let redis: RedisServer
let folder: TempDir
beforeAll(async () => {
  ;[redis, folder] = await Promise.all([
    startRedis(),
    projectFolder({
      'webloom.config.ts': `export default { spiders: 'spiders' }`,
      'spiders/quotes.ts': `import { Spider } from 'webloom'
export class Quotes extends Spider {
  override name = 'quotes'
  tag?: string
}`,
      'rejects.ts': `export class Pipe {
  db = Promise.reject(new Error('no database'))
  async processItem(item) { await this.db; return item }
}`,
      'hangs.ts': `await new Promise(() => setInterval(() => {}, 1e9))
export class Pipe { processItem(item) { return item } }`,
      'exits.ts': `import { exit } from 'node:process'
export class Pipe { constructor() { exit(0) } processItem(item) { return item } }`,
    }),
  ])
})
afterAll(() => Promise.all([line[Symbol.asyncDispose](), redis.stop(), folder.remove()]))

const webloom = (
  words: readonly string[],
  env: Readonly<Record<string, string>> = { REDIS_URL: redis.url },
) => line.run(words, { cwd: folder.path, env })

test('a schedule is kept with its settings, listed with when it is due, changed, asked for, and deleted', async () => {
  const kept = await webloom(['schedule', 'quotes', '0 6 * * *', '--tz', 'Europe/Berlin', '-a', 'tag=love'])
  expect(kept.stdout).toMatch(
    /^kept: schedule quotes, 0 6 \* \* \* in Europe\/Berlin, on redis:.* Its next run begins \d{4}-\d\d-\d\d 06:00:00 Europe\/Berlin \(in .*\)\n/,
  )
  expect(kept.stdout).toContain('no process is there that begins runs of quotes.')
  // Where a Redis is, and its password, is each worker's own affair.
  const where = `REDIS_URL=${redis.url.replace('://', '://:hunter2@')}`
  const url = ['-s', `QUEUE_REDIS_URL=${redis.url}`, '-s', where]
  const secrets = ['-s', 'MAIL_PASS=hunter2', '-a', 'tag=x', '-s', 'CUSTOM_API_KEY=hunter2']
  await webloom(['schedule', 'quotes', '@daily', '--name', 'secret', ...secrets])
  expect((await webloom(['schedule', 'rm', 'secret', '--json'])).stdout).not.toContain('hunter2')
  const elsewhere = await webloom(['schedule', 'quotes', '@hourly', '-s', 'CRAWL_ID=news', ...url])
  // What is shown can be typed: a URL whose password is hidden is not.
  expect(elsewhere.stdout).toMatch(
    /Export REDIS_URL with what .* worker --all -s '?QUEUE_REDIS_URL=redis:\S+\n$/,
  )
  expect(elsewhere.stdout).not.toContain('***')
  const listed = await webloom(['schedule', 'list', '--json'])
  expect(listed.stdout).not.toContain('hunter2')
  const byName = (JSON.parse(listed.stdout) as { name: string }[]).toSorted((x, y) =>
    x.name < y.name ? -1 : 1,
  )
  expect(byName).toMatchObject([
    { name: 'quotes', crawlId: null, tz: 'Europe/Berlin', flags: ['-a', 'tag=love'], isServed: false },
    { name: 'quotes@news', crawlId: 'news', cron: '@hourly', flags: ['-s', 'CRAWL_ID=news'] },
  ])
  expect((await webloom(['schedule', 'quotes', '30 6 * * *'])).stdout).toMatch(
    /^changed: schedule quotes, 30 6.*not typed again, and so no longer part of it: --tz Europe\/Berlin -a tag=love$/ms,
  )
  expect((await webloom(['schedule', 'run', 'quotes@news'])).stdout).toContain(
    'due now: a run of crawl "quotes" (CRAWL_ID news)',
  )
  expect((await webloom(['schedule', 'rm', 'quotes@news'])).stdout).toContain('deleted: schedule quotes@news')
  const left = (await webloom(['schedule', 'list'])).stdout
  expect(left).toMatch(/^quotes {3}30 6 \* \* \* in /)
  expect(left).not.toContain('news')
})

test('of a schedule whose spider does not load it is told that it does not, and why', async () => {
  await webloom(['schedule', 'quotes', '@yearly', '--name', 'broken'])
  await using broken = await projectFolder({
    'webloom.config.ts': `export default { spiders: 'spiders' }`,
    'spiders/quotes.ts': `export class Quotes extends Gone {}`,
    'spiders/other.ts': `import { Spider } from 'webloom'
export class Other extends Spider {
  override name = 'other'
}`,
  })
  const listed = await line.run(['schedule', 'list'], { cwd: broken.path, env: { REDIS_URL: redis.url } })
  expect(listed.stdout).toMatch(/^broken, runs of quotes {3}@yearly in /m)
  expect(listed.stdout).toMatch(
    /! spider quotes is not among those of this project that load. Not loaded here:\n.*quotes\.ts.*Gone is not defined/s,
  )
  await webloom(['schedule', 'rm', 'broken'])
})

type Refused = [string, string[], string, Readonly<Record<string, string>>?]

// What only a spider that is made shows takes a process each.
test.each<Refused>([
  ['a bad expression', ['schedule', 'quotes', '61 6 * * *'], "'0 6 * * *' is each day at six"],
  [
    'a bad time zone',
    ['schedule', 'quotes', '@daily', '--tz', 'Mars/Base'],
    'there is no time zone "Mars/Base"',
  ],
  ['no quotes', ['schedule', 'quotes', '0', '6', 'a.txt', 'b.txt'], 'Quote the expression'],
  [
    'a misspelt monitor',
    ['schedule', 'quotes', '@daily', '-s', 'MONITORS={"itms":{"min":1}}'],
    'MONITORS has no "itms"',
  ],
  [
    'an output that workers would take from one another',
    ['schedule', 'quotes', '@daily', '-o', 's3://bucket/x.jsonl'],
    'put %(worker)s into its name',
  ],
  [
    'a component whose promise is rejected',
    ['schedule', 'quotes', '@daily', '-s', 'ITEM_PIPELINES={"./rejects.ts#Pipe":300}'],
    'a promise that no code awaits was rejected: no database',
  ],
  [
    'a component that never loads',
    [
      'schedule',
      'quotes',
      '@daily',
      '-s',
      'ITEM_PIPELINES={"./hangs.ts#Pipe":300}',
      '-s',
      'COMPONENT_TIMEOUT=1',
    ],
    'was not ready after 1 s',
  ],
  [
    'a component that ends its process',
    ['schedule', 'quotes', '@daily', '-s', 'ITEM_PIPELINES={"./exits.ts#Pipe":300}'],
    'its process ended (exit code 1), as by',
  ],
  ['no such spider', ['schedule', 'quote', '@daily'], 'Did you mean quotes?'],
  ['no such argument', ['schedule', 'quotes', '@daily', '-a', 'tags=x'], 'has no field "tags"'],
  ['a file', ['schedule', 'spiders/quotes.ts', '@daily'], 'Put it into the project’s folder spiders'],
  ['a JOBDIR', ['schedule', 'quotes', '@daily', '-s', 'JOBDIR=x'], 'Unset JOBDIR, or use cron:  @daily cd '],
  [
    'another mode',
    ['schedule', 'quotes', '@daily', '-s', 'QUEUE_MODE=job'],
    "settings: { QUEUE_MODE: 'job' }",
  ],
  ['no Redis', ['schedule', 'quotes', '@daily'], 'use cron without Redis:  @daily cd ', { REDIS_URL: '' }],
  ['no such schedule', ['schedule', 'rm', 'quotez'], 'there is no schedule "quotez". Did you mean quotes?'],
  ['all, and one', ['worker', 'quotes', '--all'], 'webloom worker quotes  or  webloom worker --all'],
  ['neither', ['worker'], 'webloom worker <spider>  or  webloom worker --all'],
  ['all, anew', ['worker', '--all', '--new'], 'webloom schedule run <name>'],
  ...inSoaks<Refused>(
    [
      'a misspelt budget',
      ['schedule', 'quotes', '@daily', '-s', 'BUDGETS={"dya":{"pages":1}}'],
      'BUDGETS has "dya"',
    ],
    [
      'an output of an unknown kind',
      ['schedule', 'quotes', '@daily', '-o', 'x.unknown'],
      'FEEDS["x.unknown"]: "unknown" is not a format',
    ],
    [
      'a webhook that is no address',
      ['schedule', 'quotes', '@daily', '-s', 'MONITORS={"maxMinutes":1}', '-s', 'MONITOR_WEBHOOKS=nowhere'],
      'MONITOR_WEBHOOKS[0] is no address',
    ],
    [
      'a component that is not there',
      ['schedule', 'quotes', '@daily', '-s', 'EXTENSIONS={"./gone.ts#Gone":500}'],
      'gone.ts',
    ],
  ),
])('%s is refused with the line to type', async (_, words, says, env) => {
  const { code, stderr } = await webloom(words, env)
  expect(code).toBe(2)
  expect(stderr).toContain(says)
})
