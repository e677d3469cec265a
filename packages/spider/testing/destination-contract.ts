import assert from 'node:assert/strict'
import { type ContractTests, type Implementation, runContract, type TestRunner } from '@webloom/core/contract'
import type { Destination } from '../src/feeds/storages/destination.ts'

/** A place that an output may be put to, and a way to look at it. */
export interface DestinationUnderTest {
  readonly destination: Destination
  /** Puts something there as somebody else would. */
  fill(text: string): Promise<void>
  /** What is there, or under the name that `setAside` returned; undefined for nothing. */
  textAt(name?: string): Promise<string | undefined>
}

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('half')
  throw new Error('the spool cannot be read')
}

/** More than goes at once over any line: 8 MiB is one part of an object of S3. */
async function* big(): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < 9; n++) yield Buffer.alloc(1_000_000, 97 + n)
}

const TESTS: ContractTests<DestinationUnderTest> = {
  'where nothing is it says so, and opening leaves nothing there': async ({ destination, textAt }) => {
    for (const mayReplace of [false, true]) {
      assert.equal(await destination.open(mayReplace), 'nothing')
      assert.equal(await textAt(), undefined)
    }
  },
  'what is there is told where it may be replaced, and stays as it is': async (place) => {
    await place.fill('old')
    assert.equal(await place.destination.open(true), 'something')
    assert.equal(await place.textAt(), 'old')
  },
  'what is there is refused where it may not be replaced, and stays as it is': async (place) => {
    await place.fill('old')
    await assert.rejects(place.destination.open(false), /holds something/)
    assert.equal(await place.textAt(), 'old')
  },
  'an empty one holds nothing that could be lost': async ({ destination, fill }) => {
    await fill('')
    assert.notEqual(await destination.open(false), 'something')
  },
  'an output is put there whole, its pieces in their order, in place of what was': async (place) => {
    await place.fill('an old one that is longer')
    await place.destination.open(true)
    await place.destination.put(pieces('one, ', '', 'two, ', 'thrée'))
    assert.equal(await place.textAt(), 'one, two, thrée')
    await place.destination.put(pieces('again'))
    assert.equal(await place.textAt(), 'again')
  },
  'an output without a piece is there, and empty': async ({ destination, textAt }) => {
    await destination.open(false)
    await destination.put(pieces())
    assert.equal(await textAt(), '')
  },
  'a big one comes whole': async ({ destination, textAt }) => {
    await destination.open(false)
    await destination.put(big())
    const text = (await textAt()) ?? ''
    assert.equal(text.length, 9_000_000)
    for (let n = 0; n < 9; n++) assert.equal(text.charCodeAt(n * 1_000_000 + n), 97 + n)
  },
  'an output that breaks half way is not put there: what was is there, and the reason is thrown': async (
    place,
  ) => {
    await place.destination.open(true)
    await assert.rejects(place.destination.put(broken()), /the spool cannot be read/)
    assert.equal(await place.textAt(), undefined)
    await place.fill('old')
    await assert.rejects(place.destination.put(broken()), /the spool cannot be read/)
    assert.equal(await place.textAt(), 'old')
  },
  'what is set aside is kept under the name that is told, whatever is put there then': async (place) => {
    await place.fill('old')
    await place.destination.open(true)
    const kept = await place.destination.setAside()
    assert.equal(await place.textAt(kept), 'old')
    await place.destination.put(pieces('new'))
    assert.equal(await place.textAt(kept), 'old')
    assert.equal(await place.textAt(), 'new')
  },
  'what is set aside twice within a second is kept twice': async (place) => {
    const kept = new Set<string>()
    for (const text of ['first', 'second', 'third']) {
      await place.fill(text)
      await place.destination.open(true)
      kept.add(await place.destination.setAside())
    }
    const texts = await Promise.all([...kept].map((name) => place.textAt(name)))
    assert.deepEqual(texts.sort(), ['first', 'second', 'third'])
  },
}

/** Every Destination runs this. */
export function destinationContract(
  runner: TestRunner,
  implementation: Implementation<DestinationUnderTest>,
): void {
  runContract(runner, 'Destination', TESTS, implementation)
}
