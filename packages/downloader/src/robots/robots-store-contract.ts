import assert from 'node:assert/strict'
import { type ContractTests, type Implementation, runContract, type TestRunner } from '@webloom/core/contract'
import type { RobotsEntry, RobotsStore } from './robots-store.ts'

/** A store whose clock the test sets. */
export interface TimedRobotsStore {
  readonly store: RobotsStore
  now(): number
  pass(ms: number): Promise<void> | void
}

const SITE = 'https://example.com'
const HOUR_MS = 3_600_000

const rules = (file: string, askAgainAtMs: number): RobotsEntry => ({ outcome: 'rules', file, askAgainAtMs })

const TESTS: ContractTests<TimedRobotsStore> = {
  'a site that was never asked has no entry': async ({ store }) => {
    assert.equal(await store.get(SITE), undefined)
  },
  'each kind of entry comes back as it was, for its origin alone': async ({ store, now }) => {
    const askAgainAtMs = now() + HOUR_MS
    const entries: RobotsEntry[] = [
      rules('User-agent: *\nDisallow: /\xe9\r\n', askAgainAtMs),
      { outcome: 'absent', askAgainAtMs },
      { outcome: 'unreachable', reason: '503', tries: 2, sinceMs: now(), isGivenUp: true, askAgainAtMs },
    ]
    for (const entry of entries) {
      await store.set(SITE, entry, HOUR_MS)
      assert.deepEqual(await store.get(SITE), entry)
    }
    assert.equal(await store.get('http://example.com'), undefined)
    assert.equal(await store.get('https://example.com:8443'), undefined)
  },
  'what is set again takes the place of what was, however long each holds': async ({ store, now, pass }) => {
    await store.set(SITE, rules('first', now() + 1000), HOUR_MS)
    await store.set(SITE, rules('second', now() + 2000), HOUR_MS)
    assert.deepEqual(await store.get(SITE), rules('second', now() + 2000))
    const large = rules('x'.repeat(100_000), now() + 3000)
    await store.set(SITE, large, HOUR_MS)
    assert.deepEqual(await store.get(SITE), large)
    await pass(4000)
    assert.deepEqual(await store.get(SITE), large)
  },
  'an entry that no longer holds is given on, for the time that the site is unreachable': async (timed) => {
    const { store, now, pass } = timed
    const entry = rules('User-agent: *', now() + 1000)
    await store.set(SITE, entry, HOUR_MS)
    await pass(HOUR_MS - 1000)
    assert.deepEqual(await store.get(SITE), entry)
  },
  'an entry is kept for its time and no longer, and again when it is set again': async (timed) => {
    const { store, now, pass } = timed
    const entry = rules('User-agent: *', now() + 10 * HOUR_MS)
    await store.set(SITE, entry, HOUR_MS)
    await pass(HOUR_MS / 2)
    await store.set(SITE, entry, HOUR_MS)
    await pass(HOUR_MS - 1000)
    assert.deepEqual(await store.get(SITE), entry)
    await pass(1000)
    assert.equal(await store.get(SITE), undefined)
  },
}

/** Every RobotsStore runs this. */
export function robotsStoreContract(
  runner: TestRunner,
  implementation: Implementation<TimedRobotsStore>,
): void {
  runContract(runner, 'RobotsStore', TESTS, implementation)
}
