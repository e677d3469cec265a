import { highest, type QueuedSlot, type QueueHeld } from '@webloom/core'
import { leastTimeMs } from '../politeness/host-pace.ts'
import type { HeldSlot, HeldTurn } from './held-turn.ts'

/**
 * Returns the slots of held turns of which something waits: what this worker has taken and not handed out, and what waited
 * behind that when Redis told last. Of a hot slot those behind count that have the priority of the next one. Slots of a bucket
 * that wait in Redis alone are unknown here.
 */
export function mostQueuedOf(turns: Iterable<HeldTurn>, most: number): QueuedSlot[] {
  const here = new Map<string, number>()
  const behind = new Map<string, number>()
  for (const turn of turns) {
    for (const { name, queue, waiting } of turn.slots.values())
      here.set(name, (here.get(name) ?? 0) + queue.length + waiting)
    if (turn.isBucket) continue
    // All lanes of a slot have the same line behind them.
    const name = decodeURIComponent(turn.job.unit)
    behind.set(name, Math.max(behind.get(name) ?? 0, turn.ready))
  }
  const names = new Set([...here.keys(), ...behind.keys()])
  const count = (slot: string) => (here.get(slot) ?? 0) + (behind.get(slot) ?? 0)
  return highest(names, most, count)
    .map((slot) => ({ slot, waiting: count(slot) }))
    .filter(({ waiting }) => waiting > 0)
}

/**
 * Returns how many slots these turns have something of, and which of them takes longest at its delay. Slots of a bucket that wait in
 * Redis alone are unknown here, and so is what waits behind a hot slot with another priority: it takes no less than this.
 */
export function heldHostsOf(turns: Iterable<HeldTurn>): Omit<QueueHeld, 'suspects'> {
  const hosts = new Set<string>()
  let [longestMs, longestHost] = [0, '']
  for (const turn of turns)
    for (const slot of turn.slots.values()) {
      if (slot.isIdle) continue
      hosts.add(slot.name)
      const leastMs = leastTimeOf(slot, turn)
      if (leastMs > longestMs) [longestMs, longestHost] = [leastMs, slot.name]
    }
  return { heldHosts: hosts.size, longestMs, longestHost }
}

function leastTimeOf({ queue, waiting, pace, state }: HeldSlot, turn: HeldTurn): number {
  const starts = queue.length + waiting + (turn.isBucket ? 0 : turn.ready)
  return leastTimeMs(pace, starts, state.delayMs)
}
