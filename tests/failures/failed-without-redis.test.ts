/** Requests that were given up in a crawl without Redis: queued again or dropped by its dashboard while it runs, or in its JOBDIR after it. */

import { type TempDir, tempDir } from '@webloom/testkit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { crawl, type Response, type SettingsInput, Spider } from 'webloom'
import type { Logger } from 'webloom/ports'
import { failedDrop, failedList, failedRetry } from '../../packages/webloom/src/commands/failed.ts'
import { GIVES_UP_AT_ONCE, IllSite } from '../../packages/webloom/testing/ill-site.ts'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

const WITHIN = { interval: 20 }

let site: IllSite
let folder: TempDir
beforeEach(async () => {
  folder = await tempDir()
  site = await IllSite.start()
})
afterEach(async () => {
  await site[Symbol.asyncDispose]()
  await folder.remove()
})

interface Listed {
  readonly failed: readonly { readonly id: string; readonly url: string }[]
}

const SPIDER = (start: string) => `import { type Response, Spider } from 'webloom'

export default class Pages extends Spider {
  name = 'pages'
  startUrls = ['${start}']
  async *parse(response: Response) {
    yield* response.followAll()
  }
}
`

test('its dashboard queues one again, which is crawled at once, and drops another, which never is', async () => {
  await using project = await ClusterFolder.of({ seeds: [] }, GIVES_UP_AT_ONCE, SPIDER(`${site.origin}/`))
  const running = project.start('crawl', 'pages', '--dash', '--control')
  await vi.waitFor(() => expect(running.stderr).toMatch(/the dashboard is at http:/), WITHIN)
  const api = `${/the dashboard is at (http:[^\s"]+)/.exec(running.stderr)![1]}api/crawls/pages/failed`
  const listed = async () => ((await (await fetch(api)).json()) as Listed).failed
  const told = async (verb: string, meant: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${api}/${verb}`, { method: 'POST', headers, body: JSON.stringify(meant) })
    return answer.json()
  }
  await vi.waitFor(async () => expect(await listed()).toHaveLength(3), WITHIN)
  const ids = new Map((await listed()).map(({ id, url }) => [new URL(url).pathname, id]))
  site.isIll = false
  site.asked = []
  expect(await told('retry', { ids: [ids.get('/1')] })).toEqual({ queued: 1, unreadable: 0 })
  expect(await told('drop', { ids: [ids.get('/2')] })).toEqual({ dropped: 1 })
  await vi.waitFor(() => expect(site.asked).toEqual(['/1']), WITHIN)
  // What is not there any more can be neither queued nor dropped again.
  expect(await told('retry', { ids: [ids.get('/1'), ids.get('/2')] })).toEqual({ queued: 0, unreadable: 0 })
  expect(await told('drop', { ids: [ids.get('/2')] })).toEqual({ dropped: 0 })
  expect((await listed()).map(({ url }) => url)).toEqual([`${site.origin}/3`])
  site.release()
  expect((await running.exited).code).toBe(0)
  expect(site.asked).toEqual(['/1'])
})

test('in a JOBDIR that has ended: one is queued again and crawled by the next run, a dropped one is not', async () => {
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [`${site.origin}/`]
    override *parse(response: Response): Generator<unknown> {
      yield* response.followAll()
    }
  }
  const settings: SettingsInput = { ...GIVES_UP_AT_ONCE, JOBDIR: folder.join('job') }
  const config = { path: folder.join('webloom.config.ts'), folder: folder.path, spiders: [], settings }
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  const answer = () => JSON.parse(printed.mock.lastCall![0])
  site.release()
  await crawl(Pages, { settings, logger: silent })
  await failedList(Pages, { json: true, status: '503' }, config)
  const ids = new Map(answer().map(({ id, url }: { id: string; url: string }) => [new URL(url).pathname, id]))
  const [one, two] = [ids.get('/1'), ids.get('/2')] as string[]

  await failedRetry(Pages, [one!], { json: true }, config)
  expect(answer()).toEqual({ queued: [one], unreadable: [] })
  await failedDrop(Pages, [two!], { json: true }, config)
  expect(answer()).toEqual([two])
  // The same line once more: nothing is queued a second time.
  await expect(failedRetry(Pages, [one!, two!], { json: true }, config)).rejects.toThrow('not retried')
  expect(answer()).toEqual({ queued: [], unreadable: [] })
  await failedList(Pages, { json: true }, config)
  expect(answer()).toMatchObject({ kept: 1, total: 3 })

  site.isIll = false
  site.asked = []
  await crawl(Pages, { settings, logger: silent })
  expect(site.asked).toEqual(['/1'])
  await failedDrop(Pages, [], { json: true, all: true }, config)
  await failedList(Pages, { json: true }, config)
  expect(answer()).toMatchObject({ kept: 0, total: 0, groups: [] })
})
