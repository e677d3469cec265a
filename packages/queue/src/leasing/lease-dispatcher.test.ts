import { expect, test } from 'vitest'
import { type DispatchItem, LeaseDispatcher } from './lease-dispatcher.ts'

/** What the dispatcher notes in Redis, and when Redis answers. */
class Notes {
  readonly said: string[] = []
  begin: () => Promise<void> = async () => {}

  readonly options = {
    beginAlone: async ({ id }: DispatchItem) => {
      await this.begin()
      this.said.push(`begin ${id}`)
    },
    endAlone: async ({ id }: DispatchItem) => {
      this.said.push(`end ${id}`)
    },
  }
}

const item = (id: string, { priority = 0, suspect = false } = {}): DispatchItem => ({
  ...{ id, priority, suspect },
  attempt: suspect ? 2 : 1,
})
const ids = (items: readonly DispatchItem[]) => items.map(({ id }) => id)
const something = async () => false
const nothing = async () => true
const turn = () => new Promise((resolve) => setImmediate(resolve))

function newDispatcher() {
  const notes = new Notes()
  const dispatcher = new LeaseDispatcher<DispatchItem>(notes.options)
  const take = (max = 9, signal?: AbortSignal) => dispatcher.take(max, signal, something).then(ids)
  return { dispatcher, notes, take }
}

test('what lies ready is taken by priority, then first come', async () => {
  const { dispatcher, take } = newDispatcher()
  for (const one of [item('a'), item('b', { priority: 5 }), item('c'), item('d', { priority: 5 })])
    dispatcher.put(one)
  expect(await take(3)).toEqual(['b', 'd', 'a'])
  expect(await take(3)).toEqual(['c'])
})

test('who waits gets all that is put in one go, and no more than asked for', async () => {
  const { dispatcher, take } = newDispatcher()
  const [first, second] = [take(2), take(2)]
  for (const id of ['a', 'b', 'c']) dispatcher.put(item(id))
  expect(await first).toEqual(['a', 'b'])
  expect(await second).toEqual(['c'])
})

test('demand is what the waiting would take beyond what is there', async () => {
  const { dispatcher, take } = newDispatcher()
  const heard: number[] = []
  dispatcher.onDemand(() => heard.push(dispatcher.demand))
  expect(dispatcher.demand).toBe(0)
  const waiting = take(3)
  expect(heard).toEqual([3])
  dispatcher.put(item('a'))
  expect(dispatcher.demand).toBe(2)
  expect(await waiting).toEqual(['a'])
  expect(dispatcher.demand).toBe(0)
})

test('what is withdrawn before it is handed out is not; afterwards it is too late', async () => {
  const { dispatcher, take } = newDispatcher()
  const [kept, lost] = [item('kept'), item('lost')]
  dispatcher.put(lost)
  dispatcher.put(kept)
  expect(dispatcher.remove(lost)).toBe(true)
  expect(await take()).toEqual(['kept'])
  expect(dispatcher.remove(kept)).toBe(false)
})

test('a suspect waits for the end of the others, is noted, and nothing goes beside it', async () => {
  const { dispatcher, notes, take } = newDispatcher()
  const [a, b] = [item('a'), item('b')]
  const [s, t] = [item('s', { suspect: true }), item('t', { suspect: true })]
  dispatcher.put(a)
  expect(await take()).toEqual(['a'])
  for (const one of [b, s, t]) dispatcher.put(one)
  const waiting = take()
  await turn()
  expect(notes.said).toEqual([])
  expect(dispatcher.demand).toBe(0)
  dispatcher.ended(a)
  expect(await waiting).toEqual(['s'])
  expect(notes.said).toEqual(['begin s'])
  const next = take()
  await turn()
  expect(dispatcher.demand).toBe(0)
  dispatcher.ended(s)
  expect(await next).toEqual(['t'])
  expect(notes.said).toEqual(['begin s', 'end s', 'begin t'])
  dispatcher.ended(t)
  expect(await take()).toEqual(['b'])
  expect(notes.said).toEqual(['begin s', 'end s', 'begin t', 'end t'])
})

test('a suspect is handed out only when its note is written', async () => {
  const { dispatcher, notes, take } = newDispatcher()
  let written = () => {}
  notes.begin = () => new Promise((resolve) => (written = resolve))
  dispatcher.put(item('s', { suspect: true }))
  let answered: string[] | undefined
  const waiting = take().then((found) => (answered = found))
  await turn()
  expect(answered).toBeUndefined()
  written()
  expect(await waiting).toEqual(['s'])
})

test('a suspect that is lost while its note is written is not handed out, and its note is taken back', async () => {
  const { dispatcher, notes, take } = newDispatcher()
  let written = () => {}
  notes.begin = () => new Promise((resolve) => (written = resolve))
  const lost = item('lost', { suspect: true })
  dispatcher.put(lost)
  dispatcher.put(item('a'))
  const waiting = take()
  await turn()
  expect(dispatcher.remove(lost)).toBe(true)
  written()
  expect(await waiting).toEqual(['a'])
  expect(notes.said).toEqual(['begin lost', 'end lost'])
})

test('nobody who waits, no note: a suspect is noted when it is about to run', async () => {
  const { dispatcher, notes, take } = newDispatcher()
  dispatcher.put(item('s', { suspect: true }))
  await turn()
  expect(notes.said).toEqual([])
  expect(await take()).toEqual(['s'])
})

test('a note that Redis refuses is told to who waits, and tried again for the next', async () => {
  const { dispatcher, notes, take } = newDispatcher()
  notes.begin = async () => {
    throw new Error('OOM')
  }
  dispatcher.put(item('s', { suspect: true }))
  await expect(take()).rejects.toThrow('OOM')
  notes.begin = async () => {}
  expect(await take()).toEqual(['s'])
})

test('when nothing can come the answer is none at once; it is asked again when something has ended', async () => {
  const { dispatcher } = newDispatcher()
  expect(await dispatcher.take(9, undefined, nothing)).toEqual([])
  let asked = 0
  const waiting = dispatcher.take(9, undefined, async () => ++asked === 2)
  await turn()
  expect(asked).toBe(1)
  dispatcher.recheck()
  expect(await waiting).toEqual([])
})

test('nobody is asked while something is out: it may bring more', async () => {
  const { dispatcher, take } = newDispatcher()
  const a = item('a')
  dispatcher.put(a)
  await take()
  let asked = 0
  const waiting = dispatcher.take(9, undefined, async () => ++asked > 0)
  dispatcher.recheck()
  await turn()
  expect(asked).toBe(0)
  dispatcher.ended(a)
  dispatcher.recheck()
  expect(await waiting).toEqual([])
})

test('what comes while "nothing can come" is found out is not overlooked', async () => {
  const { dispatcher } = newDispatcher()
  const waiting = dispatcher.take(9, undefined, async () => {
    dispatcher.put(item('late'))
    return true
  })
  expect(ids(await waiting)).toEqual(['late'])
})

test('an aborted wait and a closed dispatcher answer with none, and what was put stays for the next', async () => {
  const { dispatcher, take } = newDispatcher()
  const abort = new AbortController()
  const waiting = take(9, abort.signal)
  abort.abort()
  expect(await waiting).toEqual([])
  dispatcher.put(item('a'))
  expect(await take()).toEqual(['a'])
  const last = take()
  dispatcher.close()
  expect(await last).toEqual([])
  expect(await take()).toEqual([])
})

test('the wait ends after a second', async () => {
  const { take } = newDispatcher()
  const startedAt = performance.now()
  expect(await take()).toEqual([])
  expect(performance.now() - startedAt).toBeGreaterThan(990)
})
