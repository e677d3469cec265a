import { beforeEach, expect, test } from 'vitest'
import { KnownHosts, pageHost } from './known-hosts.ts'

const notes = new Map<string, string>()
const asked: string[] = []
const store = {
  notes: async (names: readonly string[]) => {
    asked.push(...names)
    return names.map((name) => notes.get(name))
  },
  note: async (texts: ReadonlyMap<string, string>) => {
    for (const [name, text] of texts) notes.set(name, text)
  },
}
beforeEach(() => {
  notes.clear()
  asked.length = 0
})

const VALIDATORS = { asksSinceCheck: 3, asksPerCheck: 8, proofs: 1, useless: 2, lied: false }
const DATES = { changedRight: 1.9, changedWrong: 0, sameRight: 12, sameWrong: 0.5 }

test('what one process has noted the next goes on with, and asks for once', async () => {
  const one = new KnownHosts(store)
  one.learn('a.example:8080', { validators: VALIDATORS, lastModified: DATES })
  one.learn('b.example', { lastmod: DATES })
  await one.noteNow()
  const next = new KnownHosts(store)
  asked.length = 0
  await next.meet(['a.example:8080', 'b.example', 'c.example', 'a.example:8080'])
  await next.meet(['c.example'])
  expect(asked).toEqual(['host/a.example:8080', 'host/b.example', 'host/c.example'])
  expect(next.of('a.example:8080')).toEqual({ validators: VALIDATORS, lastModified: DATES })
  expect(next.of('b.example')).toEqual({ lastmod: DATES })
  expect(next.of('c.example')).toEqual({})
  expect(Math.max(...[...notes.values()].map(({ length }) => length))).toBeLessThan(32)
})

test('two processes that learn of one host at once: what both have counted is added up, and no lie is forgotten', async () => {
  const [one, other] = [new KnownHosts(store), new KnownHosts(store)]
  one.learn('a.example', { validators: { ...VALIDATORS, lied: true }, lastmod: DATES })
  other.learn('a.example', {
    validators: { ...VALIDATORS, asksSinceCheck: 0, asksPerCheck: 64, proofs: 3 },
    lastmod: { ...DATES, sameRight: 1 },
  })
  await one.noteNow()
  await other.noteNow()
  const next = new KnownHosts(store)
  await next.meet(['a.example'])
  expect(next.of('a.example')).toEqual({
    validators: { asksSinceCheck: 0, asksPerCheck: 64, proofs: 3, useless: 2, lied: true },
    lastmod: { changedRight: 3.8, changedWrong: 0, sameRight: 13, sameWrong: 1 },
  })
})

test('issue 22: a host that was honest for a thousand visits is believed no longer when its dates are wrong', async () => {
  const [one, other] = [new KnownHosts(store), new KnownHosts(store)]
  const visit = async (from: KnownHosts, field: 'changedRight' | 'sameRight' | 'changedWrong', n: number) => {
    const record = from.of('a.example').lastmod ?? { ...DATES, changedRight: 0, sameRight: 0, sameWrong: 0 }
    const faded = Object.fromEntries(Object.entries(record).map(([name, count]) => [name, count * 0.98]))
    const lastmod = { ...(faded as unknown as typeof record), [field]: faded[field]! + 1 }
    from.learn('a.example', { lastmod })
    if (n % 20 === 19) await from.noteNow()
  }
  for (let n = 0; n < 1000; n++) await visit(one, n % 5 < 3 ? 'changedRight' : 'sameRight', n)
  expect(notes.get('host/a.example')).toMatch(/^\|\|\d{3},0,\d{3},0$/)
  await other.meet(['a.example'])
  for (let n = 0; n < 400; n++) await visit(n % 40 < 20 ? one : other, 'changedWrong', n)
  const [right, wrong] = notes.get('host/a.example')!.slice(2).split(',').map(Number)
  expect(right).toBeLessThan(10)
  expect(wrong).toBeGreaterThan(400)
  expect(wrong).toBeLessThan(600)
})

test('a note that says nothing is passed over, and what could not be noted is noted later', async () => {
  for (const text of ['', '1,2', 'x|y|z', '1,2,3,4,-5', '1e999,1,1,1,1', '{"lied":true}']) {
    notes.set('host/a.example', text)
    const hosts = new KnownHosts(store)
    await hosts.meet(['a.example'])
    expect(hosts.of('a.example'), text).toEqual({})
  }
  let isAway = true
  const hosts = new KnownHosts({
    ...store,
    note: async (texts) => (isAway ? Promise.reject(new Error('away')) : store.note(texts)),
  })
  hosts.learn('b.example', { validators: VALIDATORS })
  await expect(hosts.noteNow()).rejects.toThrow('away')
  isAway = false
  await hosts.noteNow()
  expect(notes.get('host/b.example')).toBe('3,8,1,2,0')
})

test('a host is one with its port, and no address is none', () => {
  expect(pageHost('http://user:pass@A.example:8080/x')).toBe('a.example:8080')
  expect(pageHost('no address')).toBe('')
})
