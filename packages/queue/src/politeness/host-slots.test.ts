import { Request, type RequestQueue } from '@webloom/core'
import { expect, test, vi } from 'vitest'
import { BucketBench } from '../../testing/bucket-bench.ts'
import { JobBench } from '../../testing/job-bench.ts'
import { MemoryRequestQueue } from '../local/memory-request-queue.ts'
import { HostSlots, type ResolveHost, type SlotGrouping } from './host-slots.ts'
import { MemoryHostClock } from './memory-host-clock.ts'

const slotsBy = (groupBy: SlotGrouping, resolve: ResolveHost = async () => []) =>
  new HostSlots({ groupBy, resolve })
const request = (url: string, slot?: string) =>
  new Request(url, slot === undefined ? {} : { meta: { download_slot: slot } })

test.each([
  ['http://Example.com/a', 'example.com'],
  ['http://user:p@ss@example.com:8080/a@b', 'example.com'],
  ['http://example.com?x', 'example.com'],
  ['http://[::1]:80/', '[::1]'],
])('by host, %s belongs to %s', (url, slot) => {
  expect(slotsBy('host').slotOf(new Request(url))).toBe(slot)
})

test.each([
  ['http://www.shop.example.co.uk/', 'example.co.uk'],
  ['http://example.co.uk:8080/', 'example.co.uk'],
  ['http://me.github.io/', 'me.github.io'],
  ['http://deep.me.github.io/', 'me.github.io'],
  ['http://co.uk/', 'co.uk'],
  ['http://localhost:3000/', 'localhost'],
  ['http://www.intern/', 'www.intern'],
  ['http://127.0.0.1/', '127.0.0.1'],
  ['http://[2001:db8::1]/', '[2001:db8::1]'],
])('by domain, %s belongs to %s', (url, slot) => {
  expect(slotsBy('domain').slotOf(new Request(url))).toBe(slot)
})

test('meta.download_slot goes before any grouping', async () => {
  for (const groupBy of ['host', 'domain', 'ip'] as const) {
    expect(slotsBy(groupBy).slotOf(request('http://a.example.com/', 'mine'))).toBe('mine')
  }
})

test('by ip, hosts of one address share a line, and of several addresses the smallest counts', async () => {
  const addresses: Record<string, string[]> = {
    'a.test': ['10.0.0.9', '10.0.0.1'],
    'b.test': ['10.0.0.1', '10.0.0.9'],
    'c.test': ['10.0.0.2'],
  }
  const asked: string[] = []
  const slots = slotsBy('ip', async (name) => {
    asked.push(name)
    return addresses[name]!
  })
  const all = [
    'http://a.test/1',
    'http://a.test/2',
    'http://b.test/',
    'http://c.test/',
    'http://10.0.0.2/',
  ].map((url) => request(url))
  const batch = all.map((one) => ({ request: one }))
  await Promise.all([slots.prepare(batch), slots.prepare(batch)])
  expect(all.map((one) => slots.slotOf(one))).toEqual([
    '10.0.0.1',
    '10.0.0.1',
    '10.0.0.1',
    '10.0.0.2',
    '10.0.0.2',
  ])
  expect(asked.sort(), 'each once').toEqual(['a.test', 'b.test', 'c.test'])
})

test('beyond its bytes a name is looked up again, and none of the batch that is being queued is forgotten', async () => {
  const asked: string[] = []
  const resolve = async (name: string) => {
    asked.push(name)
    return [`10.0.0.${name.length}`]
  }
  const slots = new HostSlots({ groupBy: 'ip', resolve, namesBytesMax: 4096 })
  const batchOf = (prefix: string) =>
    Array.from({ length: 40 }, (_, n) => ({ request: request(`http://${prefix}${n % 10}-${n}.test/`) }))
  for (const prefix of ['a', 'b', 'c']) {
    const batch = batchOf(prefix)
    await slots.prepare(batch)
    for (const one of batch) expect(slots.slotOf(one.request)).toMatch(/^10\.0\.0\./)
  }
  expect(asked.length).toBe(120)
  await slots.prepare(batchOf('c'))
  expect(asked.length).toBe(120)
  await slots.prepare(batchOf('a'))
  expect(asked.length).toBe(160)
})

test('a name that has no address, or not in time, keeps its own name, until it is looked up again', async () => {
  vi.useFakeTimers()
  try {
    let answer = (_addresses: string[]) => {}
    const slots = slotsBy('ip', (name) =>
      name === 'none.test'
        ? Promise.reject(new Error('ENOTFOUND'))
        : new Promise((resolve) => {
            answer = resolve
          }),
    )
    const [none, slow] = [request('http://none.test/'), request('http://slow.test/')]
    const preparing = slots.prepare([{ request: none }, { request: slow }])
    await vi.advanceTimersByTimeAsync(5000)
    await preparing
    expect([slots.slotOf(none), slots.slotOf(slow)]).toEqual(['none.test', 'slow.test'])
    // Nobody waits for it a second time.
    await slots.prepare([{ request: slow }])
    answer(['10.0.0.3'])
    await vi.advanceTimersByTimeAsync(60_001)
    expect(slots.slotOf(slow)).toBe('10.0.0.3')
  } finally {
    vi.useRealTimers()
  }
})

test('by ip, every queue has hosts of one address in one line, children and retries, too', async () => {
  const slots = slotsBy('ip', async () => ['10.0.0.1'])
  const pace = { delayMs: 0, concurrency: 1, randomize: false }
  const [turns, jobs] = [new BucketBench(), new JobBench()]
  await Promise.all([turns.start(), jobs.start()])
  const memory = new MemoryRequestQueue({ clock: new MemoryHostClock({ pace }), slots })
  await memory.open()
  await share(memory)
  await share(await turns.queue({ pace, slots }))
  await share(await jobs.open({ pace, slots }))
  await jobs.closeAll()
  await Promise.all([turns.stop(), jobs.stop()])

  async function share(queue: RequestQueue): Promise<void> {
    const on = (host: string) => ({ id: host, request: request(`http://${host}.test/`) })
    await queue.push([on('a'), on('b')], 'o')
    const [first, ...others] = await queue.lease(5)
    expect([first!.slot, others]).toEqual(['10.0.0.1', []])
    await queue.commit(first!, { children: [on('c')] })
    const [second] = await queue.lease(5)
    await queue.retry(second!, request('http://d.test/'), 0)
    expect((await queue.lease(5)).map(({ slot }) => slot)).toEqual(['10.0.0.1'])
    await queue.close()
  }
})
