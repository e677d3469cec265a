import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type DispatchItem, LeaseDispatcher } from './lease-dispatcher.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const item = (id: string): DispatchItem => ({ id, priority: 0, suspect: false, attempt: 1 })
const suspect = (id: string, attempt = 2): DispatchItem => ({ id, priority: 0, suspect: true, attempt })
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** A worker that takes whatever may go. Redis notes at once which request runs alone. */
class Worker {
  /** All that was handed out, in order. */
  readonly begun: string[] = []
  readonly out = new Map<string, DispatchItem>()
  readonly logged: string[] = []
  noted: string | undefined
  refusal: Error | undefined
  onBegin: (item: DispatchItem) => void = () => {}
  #isGone = false
  readonly dispatcher = new LeaseDispatcher<DispatchItem>({
    patienceMs: 5000,
    beginAlone: async ({ id }) => {
      this.noted = id
    },
    endAlone: async () => {
      if (this.refusal) throw this.refusal
      this.noted = undefined
    },
    onAlone: ({ id }, words) => this.logged.push(`${id} ${words}`),
  })

  put(...items: DispatchItem[]): Promise<unknown> {
    for (const one of items) this.dispatcher.put(one)
    return pass(0)
  }

  end(id: string): Promise<unknown> {
    this.dispatcher.ended(this.out.get(id)!)
    this.out.delete(id)
    return pass(0)
  }

  async run(): Promise<void> {
    while (!this.#isGone) {
      const taking = this.dispatcher.take(9, undefined, async () => false)
      for (const one of await taking.catch(() => [])) {
        this.begun.push(one.id)
        this.out.set(one.id, one)
        this.onBegin(one)
      }
    }
  }

  close(): void {
    this.#isGone = true
    this.dispatcher.close()
  }
}

function newWorker(): Worker {
  const worker = new Worker()
  void worker.run()
  return worker
}

test('suspects that hang have five seconds each; after three of them others go for as long as they have waited', async () => {
  const worker = newWorker()
  await worker.put(...['s', 't', 'u', 'v'].map((id) => suspect(id)), item('a'))
  await pass(4990)
  expect(worker.begun).toEqual(['s'])
  expect(worker.noted).toBe('s')
  expect(worker.dispatcher.suspects).toBe(4)
  expect(worker.logged).toEqual([expect.stringMatching(/^s fetched alone, .* for 5 s at most$/)])
  await pass(9990)
  expect(worker.begun).toEqual(['s', 't', 'u'])
  expect(worker.noted, 'with others that have not ended a death would be no proof').toBeUndefined()
  await pass(40)
  expect(worker.begun).toEqual(['s', 't', 'u', 'a'])
  await pass(14_900)
  await worker.put(item('b'))
  expect(worker.begun.slice(3)).toEqual(['a', 'b'])
  for (const id of ['a', 'b']) await worker.end(id)
  await pass(120)
  expect(worker.begun.slice(3)).toEqual(['a', 'b', 'v'])
  await worker.end('v')
  await worker.put(item('c'))
  expect(worker.begun.at(-1)).toBe('c')
})

test('of one suspect that hangs others have a break, too, before one that comes then', async () => {
  const worker = newWorker()
  await worker.put(suspect('s'))
  await pass(5010)
  await worker.put(suspect('t'), item('a'))
  await pass(4900)
  expect(worker.begun).toEqual(['s', 'a'])
  await worker.end('a')
  await pass(100)
  expect(worker.begun).toEqual(['s', 'a', 't'])
})

test('a suspect waits five seconds for what hangs, and goes beside it without a note; the next one does not wait again', async () => {
  const worker = newWorker()
  await worker.put(item('silent'), item('slow'))
  await worker.put(suspect('s'), suspect('t'), item('a'))
  await pass(3000)
  await worker.end('slow')
  await pass(1990)
  expect(worker.begun).toEqual(['silent', 'slow'])
  await pass(20)
  expect(worker.begun).toEqual(['silent', 'slow', 's'])
  expect(worker.noted).toBeUndefined()
  expect(worker.logged).toEqual([expect.stringMatching(/^s fetched with only one beside it/)])
  await worker.end('s')
  expect(worker.begun.slice(2)).toEqual(['s', 't'])
  expect(worker.noted).toBeUndefined()
  await worker.end('t')
  expect(worker.begun.slice(2)).toEqual(['s', 't', 'a'])
})

test('each worker that was lost with it makes the patience with a suspect four times as long', async () => {
  const worker = newWorker()
  await worker.put(suspect('s', 4), item('a'))
  await pass(79_990)
  expect(worker.begun).toEqual(['s'])
  await pass(20)
  expect(worker.begun).toEqual(['s', 'a'])
})

test('with twenty suspects that hang a worker goes on for half of the time', async () => {
  const worker = newWorker()
  await worker.put(...Array.from({ length: 20 }, (_, n) => suspect(`s${n}`)))
  const goneAtMs: number[] = []
  worker.onBegin = ({ id }) => {
    if (id.startsWith('s')) return
    goneAtMs.push(performance.now())
    void worker.end(id)
  }
  const begunAtMs = performance.now()
  for (let n = 0; n < 4000; n++) {
    if (worker.dispatcher.demand > 0) worker.dispatcher.put(item(`${n}`))
    await pass(100)
  }
  const gapsMs = goneAtMs.map((atMs, n) => atMs - (goneAtMs[n - 1] ?? begunAtMs))
  expect(Math.max(...gapsMs)).toBeLessThan(16_000)
  expect(goneAtMs.length).toBeGreaterThan(2900)
  expect(worker.out.size).toBe(20)
})

test.each(['hangs', 'ends'])(
  'the note of a suspect that %s is gone before others go, also when Redis refuses that at first',
  async (what) => {
    const worker = newWorker()
    await worker.put(suspect('s'), item('a'))
    worker.refusal = new Error('away')
    if (what === 'ends') await worker.end('s')
    await pass(9000)
    expect(worker.begun).toEqual(['s'])
    worker.refusal = undefined
    await pass(2000)
    expect(worker.begun).toEqual(['s', 'a'])
    expect(worker.noted).toBeUndefined()
  },
)

test('a suspect that ends while its note is deleted, and one that is lost as it waits for others, leave nobody waiting', async () => {
  const worker = newWorker()
  const lost = suspect('lost')
  await worker.put(item('silent'))
  await worker.put(lost)
  await pass(1000)
  expect(worker.dispatcher.remove(lost)).toBe(true)
  await worker.put(item('a'))
  expect(worker.begun).toEqual(['silent', 'a'])
  for (const id of ['silent', 'a']) await worker.end(id)
  await worker.put(suspect('s'), item('b'))
  vi.advanceTimersByTime(5000)
  await worker.end('s')
  expect(worker.begun).toEqual(['silent', 'a', 's', 'b'])
})

test('many suspects that end just in time make way for others, too', async () => {
  const worker = newWorker()
  worker.onBegin = ({ id, suspect }) => {
    setTimeout(() => void worker.end(id), suspect ? 4900 : 10)
  }
  await worker.put(...Array.from({ length: 20 }, (_, n) => suspect(`s${n}`)))
  const begunAtMs = performance.now()
  let longestMs = 0
  for (let n = 0, lastMs = begunAtMs; n < 1000; n++) {
    if (worker.dispatcher.demand > 0) {
      longestMs = Math.max(longestMs, performance.now() - lastMs)
      lastMs = performance.now()
      worker.dispatcher.put(item(`${n}`))
    }
    await pass(100)
  }
  expect(longestMs).toBeLessThan(20_500)
})

test('a suspect that is lost while it waits for others takes its longer patience with it', async () => {
  const worker = newWorker()
  const lost = suspect('lost', 4)
  await worker.put(item('silent'))
  await worker.put(lost, suspect('s'))
  await pass(1000)
  worker.dispatcher.remove(lost)
  await pass(5010)
  expect(worker.begun).toEqual(['silent', 's'])
})

test('a dispatcher that is closed leaves no timer', async () => {
  const worker = newWorker()
  await worker.put(item('silent'))
  await worker.put(suspect('s'))
  worker.close()
  await worker.end('silent')
  await worker.put(suspect('t'))
  expect(vi.getTimerCount()).toBe(0)
})

/** Workers one after the other, each with what was in flight when the one before was lost, until three were lost to one that ran alone. */
async function quarantined(
  killer: string,
  hanging: readonly string[],
  killsAfterMs = 0,
): Promise<{ lost: number; blamed: string[] }> {
  const blamed: string[] = []
  let suspects = [...hanging, killer].map((id) => suspect(id))
  for (let lost = 1; ; lost++) {
    const worker = newWorker()
    const died = Promise.withResolvers<void>()
    worker.onBegin = (one) => {
      if (one.id === killer) setTimeout(died.resolve, killsAfterMs)
      else setTimeout(() => worker.out.has(one.id) && void worker.end(one.id), 180_000)
    }
    await worker.put(...suspects)
    let isDead = false
    void died.promise.then(() => (isDead = true))
    while (!isDead) await pass(1000)
    worker.close()
    if (worker.noted !== undefined) blamed.push(worker.noted)
    if (blamed.length === 3) return { lost, blamed }
    const lies = suspects.filter(({ id }) => !worker.begun.includes(id))
    const tried = [...worker.out.values()].map(({ id, attempt }) => suspect(id, attempt + 1))
    suspects = [...tried, ...lies]
  }
}

test.each([
  ['at once', 0],
  ['after half a minute', 30_000],
])(
  'a request that kills %s, among four that hang, is blamed in the end, and no other is',
  async (_when, ms) => {
    const { lost, blamed } = await quarantined('killer', ['a', 'b', 'c', 'd'], ms)
    expect(blamed).toEqual(['killer', 'killer', 'killer'])
    expect(lost).toBeLessThanOrEqual(6)
  },
)
