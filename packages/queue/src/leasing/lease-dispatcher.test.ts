import { expect, test } from 'vitest'
import { type DispatchItem, LeaseDispatcher } from './lease-dispatcher.ts'

/** What the desk notes in Redis, and when Redis answers. */
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

const item = (id: string, { priority = 0, suspect = false } = {}): DispatchItem => ({ id, priority, suspect })
const ids = (items: readonly DispatchItem[]) => items.map(({ id }) => id)
const something = async () => false
const nothing = async () => true
const turn = () => new Promise((resolve) => setImmediate(resolve))

function newDesk() {
  const notes = new Notes()
  const desk = new LeaseDispatcher<DispatchItem>(notes.options)
  const take = (max = 9, signal?: AbortSignal) => desk.take(max, signal, something).then(ids)
  return { desk, notes, take }
}

test('what lies ready is taken by priority, then first come', async () => {
  const { desk, take } = newDesk()
  for (const one of [item('a'), item('b', { priority: 5 }), item('c'), item('d', { priority: 5 })])
    desk.put(one)
  expect(await take(3)).toEqual(['b', 'd', 'a'])
  expect(await take(3)).toEqual(['c'])
})

test('who waits gets all that is put in one go, and no more than asked for', async () => {
  const { desk, take } = newDesk()
  const [first, second] = [take(2), take(2)]
  for (const id of ['a', 'b', 'c']) desk.put(item(id))
  expect(await first).toEqual(['a', 'b'])
  expect(await second).toEqual(['c'])
})

test('demand is what the waiting would take beyond what is there', async () => {
  const { desk, take } = newDesk()
  const heard: number[] = []
  desk.onDemand(() => heard.push(desk.demand))
  expect(desk.demand).toBe(0)
  const waiting = take(3)
  expect(heard).toEqual([3])
  desk.put(item('a'))
  expect(desk.demand).toBe(2)
  expect(await waiting).toEqual(['a'])
  expect(desk.demand).toBe(0)
})

test('what is withdrawn before it is handed out is not; afterwards it is too late', async () => {
  const { desk, take } = newDesk()
  const [kept, lost] = [item('kept'), item('lost')]
  desk.put(lost)
  desk.put(kept)
  expect(desk.withdraw(lost)).toBe(true)
  expect(await take()).toEqual(['kept'])
  expect(desk.withdraw(kept)).toBe(false)
})

test('a suspect waits for the end of the others, is noted, and nothing goes beside it', async () => {
  const { desk, notes, take } = newDesk()
  const [a, b] = [item('a'), item('b')]
  const [s, t] = [item('s', { suspect: true }), item('t', { suspect: true })]
  desk.put(a)
  expect(await take()).toEqual(['a'])
  for (const one of [b, s, t]) desk.put(one)
  const waiting = take()
  await turn()
  expect(notes.said).toEqual([])
  expect(desk.demand).toBe(0)
  desk.ended(a)
  expect(await waiting).toEqual(['s'])
  expect(notes.said).toEqual(['begin s'])
  const next = take()
  await turn()
  expect(desk.demand).toBe(0)
  desk.ended(s)
  expect(await next).toEqual(['t'])
  expect(notes.said).toEqual(['begin s', 'end s', 'begin t'])
  desk.ended(t)
  expect(await take()).toEqual(['b'])
  expect(notes.said).toEqual(['begin s', 'end s', 'begin t', 'end t'])
})

test('a suspect is handed out only when its note is written', async () => {
  const { desk, notes, take } = newDesk()
  let written = () => {}
  notes.begin = () => new Promise((resolve) => (written = resolve))
  desk.put(item('s', { suspect: true }))
  let answered: string[] | undefined
  const waiting = take().then((found) => (answered = found))
  await turn()
  expect(answered).toBeUndefined()
  written()
  expect(await waiting).toEqual(['s'])
})

test('a suspect that is lost while its note is written is not handed out, and its note is taken back', async () => {
  const { desk, notes, take } = newDesk()
  let written = () => {}
  notes.begin = () => new Promise((resolve) => (written = resolve))
  const lost = item('lost', { suspect: true })
  desk.put(lost)
  desk.put(item('a'))
  const waiting = take()
  await turn()
  expect(desk.withdraw(lost)).toBe(true)
  written()
  expect(await waiting).toEqual(['a'])
  expect(notes.said).toEqual(['begin lost', 'end lost'])
})

test('nobody who waits, no note: a suspect is noted when it is about to run', async () => {
  const { desk, notes, take } = newDesk()
  desk.put(item('s', { suspect: true }))
  await turn()
  expect(notes.said).toEqual([])
  expect(await take()).toEqual(['s'])
})

test('a note that Redis refuses is told to who waits, and tried again for the next', async () => {
  const { desk, notes, take } = newDesk()
  notes.begin = async () => {
    throw new Error('OOM')
  }
  desk.put(item('s', { suspect: true }))
  await expect(take()).rejects.toThrow('OOM')
  notes.begin = async () => {}
  expect(await take()).toEqual(['s'])
})

test('when nothing can come the answer is none at once; it is asked again when something has ended', async () => {
  const { desk } = newDesk()
  expect(await desk.take(9, undefined, nothing)).toEqual([])
  let asked = 0
  const waiting = desk.take(9, undefined, async () => ++asked === 2)
  await turn()
  expect(asked).toBe(1)
  desk.recheck()
  expect(await waiting).toEqual([])
})

test('nobody is asked while something is out: it may bring more', async () => {
  const { desk, take } = newDesk()
  const a = item('a')
  desk.put(a)
  await take()
  let asked = 0
  const waiting = desk.take(9, undefined, async () => ++asked > 0)
  desk.recheck()
  await turn()
  expect(asked).toBe(0)
  desk.ended(a)
  desk.recheck()
  expect(await waiting).toEqual([])
})

test('what comes while "nothing can come" is found out is not overlooked', async () => {
  const { desk } = newDesk()
  const waiting = desk.take(9, undefined, async () => {
    desk.put(item('late'))
    return true
  })
  expect(ids(await waiting)).toEqual(['late'])
})

test('an aborted wait and a closed desk answer with none, and what was put stays for the next', async () => {
  const { desk, take } = newDesk()
  const abort = new AbortController()
  const waiting = take(9, abort.signal)
  abort.abort()
  expect(await waiting).toEqual([])
  desk.put(item('a'))
  expect(await take()).toEqual(['a'])
  const last = take()
  desk.close()
  expect(await last).toEqual([])
  expect(await take()).toEqual([])
})

test('the wait ends after a second', async () => {
  const { take } = newDesk()
  const startedAt = performance.now()
  expect(await take()).toEqual([])
  expect(performance.now() - startedAt).toBeGreaterThan(990)
})
