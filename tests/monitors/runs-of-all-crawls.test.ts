/** `webloom runs` without a spider: the latest run of every crawl of the project. */

import { type RedisServer, startRedis, type TempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { projectFolder } from '../projects/project-folder.ts'

const SPIDER = (name: string) => `import { Spider } from 'webloom'
export default class extends Spider {
  override name = '${name}'
  override *start() {}
}
`

const line = new CommandLine()
let redis: RedisServer
let folder: TempDir
beforeAll(async () => {
  ;[redis, folder] = await Promise.all([
    startRedis(),
    projectFolder({
      'webloom.config.ts': `export default { spiders: 'spiders', settings: { LOG_LEVEL: 'ERROR', SCHEDULER_IDLE_BEFORE_CLOSE: 0 } }`,
      'spiders/shop.ts': SPIDER('shop'),
      'spiders/shop2.ts': SPIDER('shop2'),
      'elsewhere/shop3.ts': SPIDER('shop3'),
    }),
  ])
})
afterAll(() => Promise.all([line[Symbol.asyncDispose](), redis.stop(), folder.remove()]))

test.each(['files', 'Redis'])(
  'crawls with a CRAWL_ID are listed, too, each with the line that shows it (%s)',
  async (place) => {
    const env: Record<string, string> = place === 'Redis' ? { REDIS_URL: redis.url } : {}
    const webloom = (...words: string[]) => line.run(words, { cwd: folder.path, env })
    await webloom('crawl', 'shop', '-s', 'CRAWL_ID=big')
    await webloom('crawl', 'shop2', '-s', "CRAWL_ID=it's 2/2")
    const { stdout } = await webloom('runs')
    const found = expect.stringMatching(/^ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC {3}finished /)
    expect(stdout.trimEnd().split('\n')).toEqual([
      'shop: webloom runs shop',
      expect.stringMatching(/^ {2}no run of crawl "shop" is known yet/),
      'shop@big: webloom runs shop -s CRAWL_ID=big',
      found,
      'shop2: webloom runs shop2',
      expect.stringMatching(/^ {2}no run of crawl "shop2" is known yet/),
      `shop2@it's 2/2: webloom runs shop2 -s 'CRAWL_ID=it'\\''s 2/2'`,
      found,
    ])
    expect(JSON.parse((await webloom('runs', '--json')).stdout)).toMatchObject([
      { spider: 'shop', crawlId: 'big', more: 'webloom runs shop -s CRAWL_ID=big', state: 'finished' },
      { spider: 'shop2', crawlId: "it's 2/2", state: 'finished' },
    ])
    // Whoever names one asks for it alone; one whose runs are forgotten is not listed any more.
    const one = await webloom('runs', '--json', '-s', 'CRAWL_ID=big')
    expect(JSON.parse(one.stdout)).toMatchObject([{ spider: 'shop', crawlId: 'big' }])
    const listed = await webloom('runs', 'shop@big')
    expect(listed.stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC {3}finished /)
    expect((await webloom('runs', 'shop')).stdout).toMatch(
      /^no run of crawl "shop" is known yet.*\nshop@big has 1 run: webloom runs shop -s CRAWL_ID=big\n$/,
    )
    const file = 'elsewhere/shop3.ts'
    await webloom('crawl', file, '-s', 'CRAWL_ID=big')
    expect((await webloom('runs', file)).stdout, 'as it was typed').toMatch(
      /^shop3@big has 1 run: webloom runs elsewhere\/shop3\.ts -s CRAWL_ID=big$/m,
    )
    // A CRAWL_ID without a run is a mistake in the name more often than not.
    const misspelt = await webloom('runs', 'shop@bgi', '--json')
    expect(misspelt).toMatchObject({ code: 2, stdout: '' })
    expect(misspelt.stderr).toMatch(
      /^webloom: no run of crawl "shop" \(CRAWL_ID bgi\) is known, and no such crawl: .*\. Did you mean big\?\nshop@big has 1 run: webloom runs shop -s CRAWL_ID=big\n\[WL_USAGE\]$/m,
    )
    await webloom('runs', 'shop', '-s', 'CRAWL_ID=big', '--forget')
    expect((await webloom('runs')).stdout).not.toContain('big')
  },
)
