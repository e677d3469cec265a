import assert from 'node:assert/strict'
import { WebloomError } from '@webloom/core'
import { type ContractTests, type Implementation, runContract, type TestRunner } from '@webloom/core/contract'
import type { FeedOutput } from '../src/feeds/storages/feed-output.ts'

/** An output that is not yet open, and what its reader has of it. */
export interface OutputUnderTest {
  readonly output: FeedOutput
  /** Undefined while there is none. */
  text(): Promise<string | undefined>
  /** From now on nothing can be written: the next write fails. Called when it is open. */
  breakIt(): Promise<void>
}

const notResumed = () => Promise.reject(new Error('there is nothing that it could go on with'))
const failed = (error: unknown) => error instanceof WebloomError && error.code === 'WL_OUTPUT_FAILED'

const TESTS: ContractTests<OutputUnderTest> = {
  'opening leaves nothing behind, and a crawl without items makes an output only if it is to': async (
    subject,
  ) => {
    await subject.output.open(notResumed)
    assert.equal(await subject.text(), undefined)
    await subject.output.close(false)
    assert.equal(await subject.text(), undefined)
  },
  'a crawl without items leaves an empty output where that is asked for': async ({ output, text }) => {
    await output.open(notResumed)
    await output.close(true)
    assert.equal(await text(), '')
  },
  'what is written is the output when it is closed': async ({ output, text }) => {
    await output.open(notResumed)
    await output.write('{"n":"é"}\n')
    await output.write('{"n":2}\n{"n":3}\n')
    await output.close(true)
    assert.equal(await text(), '{"n":"é"}\n{"n":2}\n{"n":3}\n')
  },
  'texts that are written at once come whole, in the order of the calls': async ({ output, text }) => {
    await output.open(notResumed)
    const texts = Array.from({ length: 200 }, (_, n) => `"${`${n} `.repeat((n * 37) % 400)}"\n`)
    await Promise.all(texts.map((line) => output.write(line)))
    await output.close(true)
    assert.equal(await text(), texts.join(''))
  },
  'closing waits for what is being written': async ({ output, text }) => {
    await output.open(notResumed)
    const line = `"${'x'.repeat(100_000)}"\n`
    const written = output.write(line)
    await output.close(true)
    await written
    assert.equal(await text(), line)
  },
  'after the first failure each write fails, and closing is quiet': async ({ output, breakIt }) => {
    await output.open(notResumed)
    await breakIt()
    for (let n = 0; n < 3; n++) await assert.rejects(output.write('{"n":1}\n'), failed)
    await assert.rejects(Promise.all([output.write('{}\n'), output.write('{}\n')]), failed)
    await output.close(true)
  },
}

/** Every FeedOutput runs this. */
export function feedOutputContract(
  runner: TestRunner,
  implementation: Implementation<OutputUnderTest>,
): void {
  runContract(runner, 'FeedOutput', TESTS, implementation)
}
