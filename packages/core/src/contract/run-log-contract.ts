import assert from 'node:assert/strict'
import type { AlertSeen } from '../desk/history-seen.ts'
import type { RunLog } from '../runs/run-log.ts'
import { type ContractTests, type Deviation, runContract, type TestRunner } from './suite.ts'

/** A crawl whose runs can be begun and ended. In one process both logs may be one object. */
export interface SharedRunLog {
  readonly one: RunLog
  readonly other: RunLog
  /** Begins a run; a run before is over. */
  begin(): Promise<void>
  /** Counts so many items more in the present run, as a worker's stats do. */
  scrape(items: number): Promise<void>
  /** Ends it with that reason; no worker is left. */
  end(reason: string): Promise<void>
  /** Goes on with a run that was ended with another reason than `finished`. */
  resume(): Promise<void>
}

export interface RunLogImplementation {
  readonly name: string
  create(): Promise<SharedRunLog & { dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

const alert = (id: string): AlertSeen => ({ id, words: `words of ${id}`, at: new Date(0).toISOString() })

async function raise(log: RunLog, run: string, id: string): Promise<boolean> {
  return log.change(run, (notes) =>
    notes.alerts.some((one) => one.id === id)
      ? [notes, false]
      : [{ ...notes, alerts: [...notes.alerts, alert(id)] }, true],
  )
}

const TESTS: ContractTests<SharedRunLog> = {
  'a crawl that has not begun has no run': async ({ one }) => {
    assert.equal(await one.look(), undefined)
  },
  'a run shows what was counted in it, and that it goes on': async ({ one, begin, scrape }) => {
    await begin()
    await scrape(7)
    const look = await one.look()
    assert.equal(look?.run.items, 7)
    assert.equal(look.stats.item_scraped_count, 7)
    assert.equal(look.run.state, 'running')
    assert.deepEqual(await one.state(), { run: look.run.run, state: 'running', isWhole: false })
    assert.deepEqual(look.past, [])
  },
  'one that has ended is whole, and in the past of the next': async ({ one, other, begin, scrape, end }) => {
    await begin()
    await scrape(7)
    await end('finished')
    const ended = await one.look()
    assert.equal(ended?.run.items, 7)
    assert.equal(ended.run.finishReason, 'finished')
    const { run, state, endedAt, finishReason } = ended.run
    assert.deepEqual(await other.state(), { run, state, endedAt, finishReason, isWhole: true })
    await begin()
    await scrape(2)
    const look = await other.look()
    assert.equal(look?.run.items, 2)
    assert.notEqual(look.run.run, ended.run.run)
    assert.deepEqual(
      look.past.map(({ run, items, finishReason }) => [run, items, finishReason]),
      [[ended.run.run, 7, 'finished']],
    )
  },
  'of many who raise one alert at once one is told that it is the first': async ({ one, other, begin }) => {
    await begin()
    const { run } = (await one.look())!.run
    const raised = await Promise.all(
      Array.from({ length: 12 }, (_, n) => raise(n % 2 ? one : other, run, 'items/min')),
    )
    assert.equal(raised.filter(Boolean).length, 1)
  },
  'no change of several at once is lost': async ({ one, other, begin }) => {
    await begin()
    const { run } = (await one.look())!.run
    const ids = Array.from({ length: 12 }, (_, n) => `coverage/f${n}`)
    await Promise.all(ids.map((id, n) => raise(n % 2 ? one : other, run, id)))
    const noted = await other.change(run, (notes) => [notes, notes.alerts.map(({ id }) => id)])
    assert.deepEqual(noted.sort(), ids.sort())
  },
  'an alert is shown with its run, and with no other': async ({ one, other, begin, end }) => {
    await begin()
    const first = (await one.look())!.run.run
    await raise(one, first, 'items/min')
    assert.deepEqual((await other.look())?.run.alerts, [alert('items/min')])
    await end('finished')
    await begin()
    const look = (await other.look())!
    assert.equal(look.run.alerts, undefined)
    assert.deepEqual(look.past[0]?.alerts, [alert('items/min')])
    assert.equal(await raise(one, look.run.run, 'items/min'), true)
  },
  'a run that goes on is judged at its next end: each end has a moment of its own, and the notes stay':
    async ({ one, begin, end, resume }) => {
      await begin()
      await end('closespider_timeout')
      const first = (await one.look())!
      assert.ok(first.run.endedAt)
      await raise(one, first.run.run, 'items/min')
      await resume()
      const goesOn = (await one.look())!
      assert.deepEqual(
        [goesOn.run.run, goesOn.run.state, goesOn.run.endedAt, goesOn.run.finishReason],
        [first.run.run, 'running', undefined, undefined],
      )
      assert.deepEqual(goesOn.run.alerts, [alert('items/min')])
      assert.ok(goesOn.runningSinceMs > Date.parse(goesOn.run.begunAt))
      await end('finished')
      const second = (await one.look())!
      assert.equal(second.run.run, first.run.run)
      assert.notEqual(second.run.endedAt, first.run.endedAt)
    },
  'the clock of a change is that of a look': async ({ one, begin }) => {
    await begin()
    const { run, atMs } = (await one.look())!
    const nowMs = await one.change(run.run, (notes, now) => [notes, now])
    assert.ok(Math.abs(nowMs - atMs) < 5000, `${nowMs} is not about ${atMs}`)
  },
}

/** Every RunLog runs this. */
export function runLogContract(runner: TestRunner, { name, create, deviations }: RunLogImplementation): void {
  runContract<SharedRunLog>(runner, 'RunLog', TESTS, {
    name,
    ...(deviations && { deviations }),
    create: async () => {
      const { dispose, ...subject } = await create()
      return { subject, dispose }
    },
  })
}
