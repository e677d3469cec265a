/** `webloom dash --control` and `webloom mcp --control` beside real crawls: what is told there, workers do, by the site's log. */

import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { type FakeWeb, startFakeWeb, startProcess, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { schemaProblem } from '../../packages/dashboard/src/verbs/schema-problem.ts'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { dashStarted, WITHOUT_DASHBOARD } from './dash-processes.ts'

const OBEYED_MS_MAX = 2000

/** Nothing is asked of the site any more, two seconds after somebody has told the crawl so. */
async function expectSilent(web: FakeWeb, toldAtMs: number): Promise<void> {
  // Waits: a worker that did not hear it would ask some fifty times meanwhile.
  await sleep(OBEYED_MS_MAX + 500 - (performance.now() - toldAtMs))
  const late = web.hits.filter(({ atMs }) => atMs > toldAtMs + OBEYED_MS_MAX)
  expect(late.map(({ url }) => url)).toEqual([])
}

/** What a real crawl answers is what the OpenAPI document says. */
async function expectAsDocumented(url: string): Promise<void> {
  const { paths } = JSON.parse(await (await fetch(`${url}api/openapi.json`)).text())
  for (const [path, { get }] of Object.entries(paths as Record<string, { get?: Operation }>)) {
    if (!get || get.operationId === 'failed_response') continue
    const query = { host: '?name=127.0.0.1', known: '?url=https://a.example/' }[get.operationId] ?? ''
    const answer = await fetch(url + path.slice(1).replace('{id}', 'pages') + query)
    expect(answer.status, path).toBe(200)
    const { schema } = get.responses['200'].content['application/json']
    expect(schemaProblem(schema, await answer.json()), path).toBeUndefined()
  }
}

interface Operation {
  readonly operationId: string
  readonly responses: { readonly '200': { readonly content: { 'application/json': { schema: object } } } }
}

test('a crawl is paused by POST, goes on by an assistant, and is stopped by it', async () => {
  await using server = await startRedis()
  await using web = await startFakeWeb({ hosts: 4, pagesPerHost: 500, latencyMs: 100 })
  const settings = { REDIS_URL: server.url, CONCURRENT_REQUESTS: 2 }
  await using folder = await ClusterFolder.of(web, settings)
  const workers = ['a', 'b'].map((name) => folder.worker(name))
  const url = await dashStarted(folder, '--control')
  await web.waitForHits(20)

  const paused = await posted(`${url}api/crawls/pages/pause`)
  const pausedAt = performance.now()
  expect(paused).toEqual({ status: 200, answer: { paused: true } })
  // A page of another site that knows the address changes nothing meanwhile.
  const from = (headers: Record<string, string>) => posted(`${url}api/crawls/pages/resume`, headers)
  expect((await from({ origin: 'https://evil.example' })).status).toBe(403)
  expect((await from({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await from({ 'content-type': 'text/plain' })).status).toBe(415)
  expect((await from({ host: 'evil.example' })).status).toBe(421)
  await expectSilent(web, pausedAt)

  await using at = await assistant(folder, '--control')
  const { tools } = await at.client.listTools()
  expect(tools.map(({ name }) => name)).toContain('failed_retry')
  expect(await at.call('crawls', {})).toMatchObject({ crawls: [{ id: 'pages', paused: true }] })
  const { length } = web.hits
  expect(await at.call('resume', { crawl: 'pages' })).toEqual({ paused: false })
  await web.waitForHits(length + 10)
  await expectAsDocumented(url)
  const pages = new Set(web.reachable())
  const met = web.hits.find(({ url }) => pages.has(url))!.url
  const known = (address: string) => at.call('known', { crawl: 'pages', url: address })
  expect(await known(met)).toMatchObject({ url: met, known: true })
  expect(await known(`${met}/none`)).toMatchObject({ url: `${met}/none`, known: false })
  expect(await at.call('stop', { crawl: 'pages', reason: 'enough' })).toEqual({ stopped: true })
  const ended = await Promise.all(workers.map(({ exited }) => exited))
  expect(ended.map(({ code }) => code)).toEqual(ended.map(() => 0))
  expect(await at.call('status', { crawl: 'pages' })).toMatchObject({
    state: 'stopped',
    finishReason: 'enough',
  })
  expect((await posted(`${url}api/crawls/pages/pause`)).status).toBe(409)
})

test('webloom mcp without the package is one error, with the line to type', async () => {
  await using folder = await ClusterFolder.of({ seeds: [] }, {})
  const words = ['--import', WITHOUT_DASHBOARD, 'node_modules/webloom/bin/webloom.js', 'mcp']
  const run = { cwd: folder.path('') }
  const { code, stderr, stdout } = await startProcess(process.execPath, words, run).exited
  expect(stderr).toMatch(/^webloom: webloom mcp needs .*npm install @webloom\/dashboard \[WL_USAGE\]\n$/)
  expect([code, stdout]).toEqual([2, ''])
})

interface Posted {
  readonly status: number
  readonly answer: unknown
}

/** Not by `fetch`, which sets some of these headers itself. */
async function posted(address: string, headers: Readonly<Record<string, string>> = {}): Promise<Posted> {
  const { promise, resolve, reject } = Promise.withResolvers<Posted>()
  const asked = request(
    address,
    { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
    async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({ status: response.statusCode!, answer: text.startsWith('{') ? JSON.parse(text) : text })
    },
  )
  asked.once('error', reject).end('{}')
  return promise
}

/** An assistant’s client that has started `webloom mcp` in the folder. */
async function assistant(folder: ClusterFolder, ...words: string[]) {
  const client = new Client({ name: 'test', version: '1' })
  const args = ['node_modules/webloom/bin/webloom.js', 'mcp', ...words]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: folder.path('') }))
  return {
    client,
    async call(name: string, given: Record<string, unknown>): Promise<unknown> {
      const { content } = await client.callTool({ name, arguments: given })
      return JSON.parse((content as [{ text: string }])[0].text)
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}
