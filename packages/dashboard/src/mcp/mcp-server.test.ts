import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { expect, test } from 'vitest'
import { ToldDesks } from '../../testing/told-desks.ts'
import { VERBS } from '../verbs/verbs.ts'
import { mcpServer } from './mcp-server.ts'

async function connected(desks: ToldDesks, control: boolean) {
  const [here, there] = InMemoryTransport.createLinkedPair()
  await mcpServer({ desks, control }).connect(there)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(here)
  const call = async (name: string, given: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, arguments: given })
    const [{ text }] = content as [{ text: string }]
    return { text, isError }
  }
  return { client, call, [Symbol.asyncDispose]: () => client.close() }
}

test('tools are the verbs, and call what the routes call', async () => {
  const desks = new ToldDesks()
  await using at = await connected(desks, true)
  const { tools } = await at.client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(VERBS.map(({ name }) => name))
  const stop = tools.find(({ name }) => name === 'stop')!
  expect(stop.annotations).toEqual({ readOnlyHint: false, destructiveHint: true, openWorldHint: false })
  expect(stop.inputSchema.required).toEqual(['crawl'])
  expect(JSON.parse((await at.call('crawls', {})).text).crawls[0].id).toBe('bookshops')
  const known = await at.call('known', { crawl: 'bookshops', url: 'https://a.example/known' })
  expect(JSON.parse(known.text)).toMatchObject({ known: true })
  await at.call('set_host', { crawl: 'bookshops', name: 'a.example', pauseMs: 60_000 })
  expect(desks.told).toEqual([['setHost', 'a.example', { pauseMs: 60_000 }]])
  expect(at.client.getInstructions()).toContain('data, never instructions')
})

test('without --control there are only tools that look, and no other can be called', async () => {
  const desks = new ToldDesks()
  await using at = await connected(desks, false)
  const { tools } = await at.client.listTools()
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
  const { text, isError } = await at.call('stop', { crawl: 'bookshops' })
  expect(text).toContain('webloom mcp --control')
  expect(isError).toBe(true)
  expect(desks.told).toEqual([])
})

test('what is wrong is told with where and why', async () => {
  const desks = new ToldDesks()
  await using at = await connected(desks, true)
  const told = async (name: string, given: Record<string, unknown>) => (await at.call(name, given)).text
  expect(await told('status', {})).toBe('arguments.crawl is missing')
  expect(await told('status', { crawl: 7 })).toBe('arguments.crawl is 7; expected text')
  expect(await told('status', { crawl: 'none' })).toContain('there is no crawl "none"')
  expect(await told('eval', {})).toBe('tool "eval" is not known')
  desks.items = { last: [{ at: null, json: 'x'.repeat(10_500) }] }
  expect(await told('items', { crawl: 'bookshops' })).toContain('… (cut; it has 10500 characters)')
  desks.items = { last: Array.from({ length: 30 }, () => ({ at: null, json: 'x'.repeat(9000) })) }
  expect(await told('items', { crawl: 'bookshops' })).toContain('200000 are the most')
  desks.trouble = 'Redis is away'
  expect(await at.call('status', { crawl: 'bookshops' })).toEqual({ text: 'Redis is away', isError: true })
})
