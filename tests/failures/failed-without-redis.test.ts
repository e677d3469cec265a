/** Requests that were given up in a crawl without Redis: queued again or dropped by its dashboard while it runs, or in its JOBDIR after it. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { GIVES_UP_AT_ONCE, IllSite } from '../../packages/webloom/testing/ill-site.ts'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'

const WITHIN = { interval: 20 }

let site: IllSite
beforeEach(async () => {
  site = await IllSite.start()
})
afterEach(() => site[Symbol.asyncDispose]())

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
  const running = project.begin('crawl', 'pages', '--dash', '--control')
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
  const settings = { ...GIVES_UP_AT_ONCE, JOBDIR: 'job' }
  await using project = await ClusterFolder.of({ seeds: [] }, settings, SPIDER(`${site.origin}/`))
  const crawled = async () => {
    const { code, stderr } = await project.run('crawl', 'pages')
    expect(code, stderr).toBe(0)
  }
  const told = (verb: string, ...words: string[]) => project.run('failed', verb, 'pages', ...words, '--json')
  const answer = async (verb: string, ...words: string[]) => {
    const { code, stdout, stderr } = await told(verb, ...words)
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  site.release()
  await crawled()
  const listed: Listed['failed'] = await answer('list', '--status', '503')
  const ids = new Map(listed.map(({ id, url }) => [new URL(url).pathname, id]))
  const [one, two] = [ids.get('/1'), ids.get('/2')] as [string, string]

  expect(await answer('retry', one)).toEqual({ queued: [one], unreadable: [] })
  expect(await answer('drop', two)).toEqual([two])
  // The same line once more: nothing is queued a second time.
  const again = await told('retry', one, two)
  expect(again.code).not.toBe(0)
  expect(again.stderr).toContain('not retried')
  expect(JSON.parse(again.stdout)).toEqual({ queued: [], unreadable: [] })
  expect(await answer('list')).toMatchObject({ kept: 1, total: 3 })

  site.isIll = false
  site.asked = []
  await crawled()
  expect(site.asked).toEqual(['/1'])
  await answer('drop', '--all')
  expect(await answer('list')).toMatchObject({ kept: 0, total: 0, groups: [] })
})
