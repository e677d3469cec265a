import { KnownHosts, type Visit, type VisitOutcome } from '@webloom/core'
import { beforeEach, describe, expect, test } from 'vitest'
import { NO_EVIDENCE, type VisitShown, withVisit } from './intervals/change-evidence.ts'
import { BALANCES_PER_ROUND, VisitPlanner } from './visit-planner.ts'

const MEAN_HOURS = 24
const STEP_MS = (MEAN_HOURS * 3_600_000) / BALANCES_PER_ROUND
const BEGUN = Date.UTC(2026, 0, 1)
const PAGES = 1000

/** A crawl whose pages ask for `asked` times the visits that there are, and have shown `shown` each. */
class StoredPages {
  readonly #notes = new Map<string, string>()
  readonly #sample: readonly Visit[]
  asked = 2
  notesWritten = 0

  constructor(...shown: VisitShown[]) {
    const evidence = shown.reduce(withVisit, NO_EVIDENCE)
    this.#sample = Array.from({ length: 200 }, () => visitOf(evidence))
  }

  async sample() {
    return this.#sample
  }

  async totals() {
    return { pages: PAGES, perHour: (this.asked * PAGES) / MEAN_HOURS }
  }

  async notes(names: readonly string[]) {
    return names.map((name) => this.#notes.get(name))
  }

  async note(notes: ReadonlyMap<string, string>) {
    this.notesWritten++
    for (const [name, text] of notes) this.#notes.set(name, text)
  }
}

function visitOf(evidence: Visit['evidence']): Visit {
  const counts = { visits: 5, changes: 2, failures: 0, goneAnswers: 0, callbackVersion: 1, isOutdated: false }
  return { visitedAt: BEGUN, dueAt: BEGUN, contentHash: '0'.repeat(12), evidence, ...counts }
}

let store: StoredPages
beforeEach(() => {
  store = new StoredPages({ hours: 24, changed: true }, { hours: 24, changed: false })
})

function newPlanner(): VisitPlanner {
  const bounds = { meanHours: MEAN_HOURS, minHours: 1, maxHours: 1440 }
  return new VisitPlanner({ store, kind: 'adaptive', hosts: new KnownHosts(store), ...bounds })
}

/** After how many hours a page is visited again that was seen for the second time, and had changed. */
function hoursUnder(planner: VisitPlanner): number {
  const outcome: VisitOutcome = { kind: 'page', at: BEGUN, callbackVersion: 1, contentHash: 'f'.repeat(12) }
  const previous = { ...visitOf(NO_EVIDENCE), visitedAt: BEGUN - 86_400_000 }
  const { visit } = planner.visited({ fingerprint: 'ab', url: 'http://a.example/' }, previous, outcome)
  return (visit.dueAt - visit.visitedAt) / 3_600_000
}

test.each(['fixed', 'adaptive'] as const)(
  '%s: the pages of a first crawl do not come due at once',
  (kind) => {
    const bounds = { meanHours: MEAN_HOURS, minHours: 1, maxHours: 1440 }
    const planner = new VisitPlanner({ store, kind, hosts: new KnownHosts(store), ...bounds })
    const outcome: VisitOutcome = { kind: 'page', at: BEGUN, callbackVersion: 1, contentHash: '0'.repeat(8) }
    const hours = Array.from({ length: PAGES }, (_, n) => {
      const { visit } = planner.visited({ fingerprint: `${n}`, url: 'http://a.example/' }, undefined, outcome)
      return (visit.dueAt - BEGUN) / 3_600_000
    })
    const lastHours = Math.max(...hours)
    const perTenth = Array.from(
      { length: 10 },
      (_, n) => hours.filter((at) => Math.floor((at / lastHours) * 9.999) === n).length,
    )
    // Over half of their interval, a fifth of them in each tenth of it.
    expect(perTenth.slice(0, 4)).toEqual([0, 0, 0, 0])
    for (const pages of perTenth.slice(5)) expect(pages).toBeLessThan(PAGES / 4)
    for (const pages of perTenth.slice(5)) expect(pages).toBeGreaterThan(PAGES / 8)
  },
)

describe('the plan of a crawl', () => {
  test('two workers whose looks are staggered make as many steps as one', async () => {
    const alone = newPlanner()
    for (let n = 0; n <= 20; n++) await alone.balance(BEGUN + n * STEP_MS)
    const expected = hoursUnder(alone)

    store = new StoredPages({ hours: 24, changed: true }, { hours: 24, changed: false })
    const [first, second] = [newPlanner(), newPlanner()]
    for (let n = 0; n <= 20; n++) {
      await first.balance(BEGUN + n * STEP_MS)
      await second.balance(BEGUN + (n + 0.5) * STEP_MS)
    }
    expect(hoursUnder(first)).toBeCloseTo(expected, 1)
    expect(hoursUnder(second)).toBeCloseTo(expected, 1)
  })

  test('what one worker has learned all others go on with', async () => {
    const [first, second] = [newPlanner(), newPlanner()]
    await first.balance(BEGUN)
    await second.balance(BEGUN + STEP_MS / 2)
    for (let n = 1; n <= 20; n++) await first.balance(BEGUN + n * STEP_MS)
    await second.balance(BEGUN + 20.5 * STEP_MS)
    expect(hoursUnder(second)).toBeCloseTo(hoursUnder(first), 2)
  })

  test('a run goes on with what the runs before have learned of how often pages change', async () => {
    // Its price is right, so that only the pages' changes move the plan.
    store.asked = 1
    const hours: number[] = []
    for (let day = 0; day < 10; day++) {
      const run = newPlanner()
      await run.balance(BEGUN + day * 86_400_000)
      hours.push(hoursUnder(run))
    }
    expect(new Set(hours).size).toBe(10)
    // Half of what is left to learn is learned with each lesson.
    expect(Math.abs(hours[9]! - hours[8]!)).toBeLessThan(Math.abs(hours[1]! - hours[0]!) / 2)
  })

  test('a worker that finds no step due writes nothing', async () => {
    await newPlanner().balance(BEGUN)
    const written = store.notesWritten
    await newPlanner().balance(BEGUN + STEP_MS - 1)
    expect(store.notesWritten).toBe(written)
  })

  test('a note of a clock that was ahead stops no plan', async () => {
    const planner = newPlanner()
    await planner.balance(BEGUN + 365 * 86_400_000)
    const before = hoursUnder(planner)
    for (let n = 0; n < 40; n++) await newPlanner().balance(BEGUN + n * STEP_MS)
    const after = newPlanner()
    await after.balance(BEGUN + 41 * STEP_MS)
    expect(hoursUnder(after)).not.toBeCloseTo(before, 0)
  })

  test('workers whose clocks are hours apart make no more steps than one', async () => {
    const [ahead, behind] = [newPlanner(), newPlanner()]
    for (let n = 0; n <= 20; n++) {
      await ahead.balance(BEGUN + 5 * 3_600_000 + n * STEP_MS)
      await behind.balance(BEGUN + n * STEP_MS)
    }
    expect(store.notesWritten).toBeLessThanOrEqual(21)
  })

  test.each([
    '',
    'null',
    '{',
    '{"price":1e999,"at":1,"mix":[]}',
    '{"price":"5","at":1}',
    '{"price":5,"at":1,"mix":["1"]}',
  ])('a note that nobody can read, %j, is learned anew', async (text) => {
    await store.note(new Map([['plan', text]]))
    const planner = newPlanner()
    await planner.balance(BEGUN)
    expect(hoursUnder(planner)).toBeGreaterThan(1)
    expect(hoursUnder(planner)).toBeLessThan(1440)
  })
})
