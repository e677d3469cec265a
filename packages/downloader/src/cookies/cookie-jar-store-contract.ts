import assert from 'node:assert/strict'
import { type ContractTests, type Implementation, runContract, type TestRunner } from '@webloom/core/contract'
import type { CookieJarStore } from './cookie-jar-store.ts'
import type { KeptCookie } from './kept-cookie.ts'

/** The suite's stores keep this many cookies of a domain. */
export const PER_DOMAIN_MAX = 20

/** Makes a cookie of a.com that goes to the whole domain. */
export const cookie = (name: string, value: string, parts: Partial<KeptCookie> = {}): KeptCookie => ({
  name,
  value,
  domain: 'a.com',
  hostOnly: false,
  path: '/',
  secure: false,
  expiresAtMs: null,
  ...parts,
})

const ENDED = { expiresAtMs: 1 }

async function found(store: CookieJarStore, domains = ['a.com'], jar = '1'): Promise<string[]> {
  return (await store.cookies(jar, domains)).map(({ name, value }) => `${name}=${value}`)
}

const TESTS: ContractTests<CookieJarStore> = {
  'an unknown jar has no cookies': async (store) => {
    assert.deepEqual(await found(store), [])
  },
  'a cookie comes back as it was, for its jar and its very domain': async (store) => {
    const one = cookie('a', '1', {
      hostOnly: true,
      path: '/x',
      secure: true,
      expiresAtMs: Date.now() + 60_000,
    })
    await store.keep('1', [one])
    const [back, ...others] = await store.cookies('1', ['a.com'])
    assert.deepEqual({ ...back, ...one }, { ...back })
    assert.deepEqual(others, [])
    assert.deepEqual(await found(store, ['www.a.com', 'com', 'b.com']), [])
    assert.deepEqual(await found(store, ['a.com'], '2'), [])
    assert.deepEqual(await found(store, []), [])
  },
  'names of jars, domains and cookies are any text': async (store) => {
    await store.keep('%(domain)s $& 1', [cookie('', '$1'), cookie('a:b', '=;', { domain: '[::1]' })])
    assert.deepEqual(await found(store, ['a.com', '[::1]'], '%(domain)s $& 1'), ['=$1', 'a:b==;'])
    assert.deepEqual(await found(store, ['a.com', '[::1]']), [])
  },
  'the cookies of one answer come back in their order': async (store) => {
    const names = ['q', 'a', 'z', 'b', 'm', 'c', 'y', 'd', 'x', 'e', 'w', 'f', 'v', 'g', 'u', 'h']
    await store.keep(
      '1',
      names.map((name) => cookie(name, 'a value that is long enough for a Redis to keep in no order')),
    )
    assert.deepEqual(
      (await store.cookies('1', ['a.com'])).map(({ name }) => name),
      names,
    )
  },
  'cookies of several domains come in the order in which they were set, too': async (store) => {
    await store.keep('1', [cookie('a', '1')])
    await store.keep('1', [cookie('b', '1', { domain: 'www.a.com' })])
    await store.keep('1', [cookie('c', '1')])
    assert.deepEqual(await found(store, ['www.a.com', 'a.com']), ['a=1', 'b=1', 'c=1'])
    assert.deepEqual(await found(store, ['a.com', 'www.a.com']), ['a=1', 'b=1', 'c=1'])
  },
  'one with the same domain, path and name takes the other’s place, in the order too': async (store) => {
    await store.keep('1', [cookie('a', '1'), cookie('b', '1')])
    await store.keep('1', [cookie('c', '1'), cookie('a', '2'), cookie('a', '3')])
    assert.deepEqual(await found(store), ['a=3', 'b=1', 'c=1'])
    await store.keep('1', [cookie('a', '4', { path: '/x' })])
    assert.deepEqual(await found(store), ['a=3', 'b=1', 'c=1', 'a=4'])
  },
  'one that has expired removes the one with its domain, path and name, and no other': async (store) => {
    await store.keep('1', [cookie('a', '1'), cookie('a', '2', { path: '/x' }), cookie('b', '1')])
    await store.keep('1', [cookie('a', '', ENDED), cookie('never', '', ENDED)])
    assert.deepEqual(await found(store), ['a=2', 'b=1'])
  },
  'what one answer sets, ends and sets again is as it was said last, and comes last': async (store) => {
    await store.keep('1', [cookie('a', '1'), cookie('b', '1')])
    await store.keep('1', [
      cookie('a', '', ENDED),
      cookie('a', '2'),
      cookie('c', '1'),
      cookie('c', '', ENDED),
    ])
    assert.deepEqual(await found(store), ['b=1', 'a=2'])
  },
  'calls that overlap each have what they set kept': async (store) => {
    const names = Array.from({ length: PER_DOMAIN_MAX }, (_, n) => `c${n}`)
    await Promise.all(names.map((name) => store.keep('1', [cookie(name, '1')])))
    assert.equal((await found(store)).length, PER_DOMAIN_MAX)
  },
  'past the bound of a domain those go that were set first': async (store) => {
    for (let n = 0; n < PER_DOMAIN_MAX + 3; n++) await store.keep('1', [cookie(`c${n}`, '1')])
    await store.keep('1', [cookie('other', '1', { domain: 'b.com' })])
    const names = Array.from({ length: PER_DOMAIN_MAX }, (_, n) => `c${n + 3}=1`)
    assert.deepEqual(await found(store), names)
    assert.deepEqual(await found(store), names)
    assert.deepEqual(await found(store, ['b.com']), ['other=1'])
  },
  'it is empty until a cookie is kept, and again when the last one has ended': async (store) => {
    assert.equal(store.isEmpty, true)
    await store.keep('1', [])
    await store.keep('1', [cookie('a', '', ENDED)])
    assert.equal(store.isEmpty, true)
    await store.keep('1', [cookie('a', '1')])
    assert.equal(store.isEmpty, false)
    await store.keep('1', [cookie('a', '', ENDED)])
    assert.equal(store.isEmpty, true)
  },
}

/** Every CookieJarStore runs this. */
export function cookieJarStoreContract(
  runner: TestRunner,
  implementation: Implementation<CookieJarStore>,
): void {
  runContract(runner, 'CookieJarStore', TESTS, implementation)
}
