import { type MonitorNotes, NO_NOTES, type RunLog } from '@webloom/core'
import { expect, test } from 'vitest'
import { HoldLost, RunHold } from './run-hold.ts'

/** What two workers share. */
class Notes implements RunLog {
  notes: MonitorNotes = NO_NOTES

  async look() {
    return undefined
  }

  async state() {
    return undefined
  }

  async change<T>(_run: string, change: (notes: MonitorNotes, nowMs: number) => readonly [MonitorNotes, T]) {
    const [notes, result] = change(this.notes, Date.now())
    this.notes = notes
    return result
  }
}

test('an act that was overtaken changes nothing any more', async () => {
  const log = new Notes()
  const hold = (token: string) =>
    RunHold.take({ runLog: log, run: 'r1', token, holdMs: 60_000, answerMs: 1000 })
  const first = (await hold('a#1'))!
  expect(await hold('a#2')).toBeUndefined()
  log.notes = { ...log.notes, hold: { token: 'b#1', untilMs: Date.now() + 60_000 } }
  await expect(first.change(() => [NO_NOTES, undefined])).rejects.toBeInstanceOf(HoldLost)
  expect(first.lost.aborted).toBe(true)
  await first.letGo()
  expect(log.notes.hold?.token).toBe('b#1')
})
