import assert from 'node:assert/strict'
import { WebloomError } from '../errors/errors.ts'
import type { CrawlRecord } from '../ports/crawl-record.ts'
import { type ContractTests, type Deviation, runContract, type TestRunner } from './suite.ts'

export interface CrawlRecordImplementation {
  readonly name: string
  /** Makes one fresh crawl that may be resumed. `record` makes the record of its next worker, not yet opened. */
  create(): Promise<{ record(): CrawlRecord; dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

type NextRecord = () => CrawlRecord

const never = new AbortController().signal
const lost = (error: unknown) => error instanceof WebloomError && error.code === 'WL_LEASE_LOST'

async function opened(next: NextRecord): Promise<CrawlRecord> {
  const record = next()
  await record.open()
  return record
}

async function leave(record: CrawlRecord, reason: string): Promise<void> {
  await record.ended(reason)
  await record.close()
}

const TESTS: ContractTests<NextRecord> = {
  'a crawl that nothing is known of begins now': async (next) => {
    const record = next()
    const past = await record.open()
    assert.equal(past.begun, false)
    assert.equal(past.finishedAt, undefined)
    await leave(record, 'shutdown')
  },
  'start() is run from its first element, and not again when it has ended': async (next) => {
    const record = await opened(next)
    assert.equal(await record.takeStart(never), 0)
    await record.startMoved(0, 2)
    await record.startEnded(2)
    assert.equal(await record.takeStart(never), null)
    await leave(record, 'shutdown')
  },
  'a start() that yields nothing ends, too': async (next) => {
    const record = await opened(next)
    assert.equal(await record.takeStart(never), 0)
    await record.startEnded(0)
    assert.equal(await record.takeStart(never), null)
    await leave(record, 'shutdown')
  },
  'whoever is to stop has no start() to run': async (next) => {
    const record = await opened(next)
    assert.equal(await record.takeStart(AbortSignal.abort()), null)
    await leave(record, 'shutdown')
  },
  'a step over elements that is told twice, or late, changes nothing': async (next) => {
    const record = await opened(next)
    await record.takeStart(never)
    await record.startMoved(0, 2)
    await record.startMoved(2, 5)
    await record.startMoved(2, 5)
    await record.startMoved(0, 2)
    assert.equal(await record.takeStart(never), 5)
    await leave(record, 'shutdown')
  },
  'a step or an end behind elements that are missing is refused, and start() goes on from there': async (
    next,
  ) => {
    const record = await opened(next)
    await record.takeStart(never)
    await record.startMoved(0, 2)
    await assert.rejects(record.startMoved(3, 4), lost)
    assert.equal(await record.takeStart(never), 2)
    await assert.rejects(record.startEnded(4), lost)
    assert.equal(await record.takeStart(never), 2)
    await leave(record, 'shutdown')
  },
  'a crawl that was stopped goes on, and its start() where it was': async (next) => {
    const first = await opened(next)
    await first.takeStart(never)
    await first.startMoved(0, 3)
    await leave(first, 'shutdown')
    const second = next()
    const past = await second.open()
    assert.deepEqual([past.begun, past.finishedAt, past.anew], [true, undefined, undefined])
    assert.equal(await second.takeStart(never), 3)
    await second.startEnded(3)
    await leave(second, 'closespider_timeout')
    const third = next()
    assert.deepEqual(await third.open(), { begun: true })
    assert.equal(await third.takeStart(never), null)
    await leave(third, 'shutdown')
  },
  'a crawl with nothing left to do is finished; who comes later is told when, and begins none': async (
    next,
  ) => {
    const first = await opened(next)
    await first.takeStart(never)
    await first.startEnded(0)
    const before = Date.now()
    assert.equal(await first.finish(), true)
    await leave(first, 'finished')
    for (let n = 0; n < 2; n++) {
      const later = next()
      const { begun, finishedAt } = await later.open()
      assert.equal(begun, true)
      const at = finishedAt?.getTime() ?? Number.NaN
      assert.ok(at >= before - 1000 && at <= Date.now() + 1000, `it finished at ${finishedAt}`)
      await later.close()
    }
  },
  'an output is begun once, whatever runs the crawl has': async (next) => {
    const first = await opened(next)
    assert.equal(await first.outputBegun('/items/a.jsonl'), false)
    await first.beginOutput('/items/a.jsonl')
    await first.beginOutput('/items/a.jsonl')
    assert.equal(await first.outputBegun('/items/a.jsonl'), true)
    assert.equal(await first.outputBegun('/items/b.jsonl'), false)
    await leave(first, 'shutdown')
    const second = await opened(next)
    assert.equal(await second.outputBegun('/items/a.jsonl'), true)
    assert.equal(await second.outputBegun('/items/b.jsonl'), false)
    await leave(second, 'shutdown')
  },
}

/**
 * Every CrawlRecord runs this, with one worker at a time. What several workers at once rely on is tested with the Redis
 * record.
 */
export function crawlRecordContract(
  runner: TestRunner,
  { name, create, deviations }: CrawlRecordImplementation,
): void {
  runContract<NextRecord>(runner, 'CrawlRecord', TESTS, {
    name,
    ...(deviations && { deviations }),
    create: async () => {
      const { record, dispose } = await create()
      return { subject: record, dispose }
    },
  })
}
