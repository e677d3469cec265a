/** What `lua/slots/lines.lua` does with the requests of one line, by the queue's order. */

import type { QueueOrder } from '@webloom/core'
import { type Entry, inMap, type Line } from './frontier-state.ts'

const LINE_BYTES_MAX = 1024

export class LineOrder {
  readonly #order: QueueOrder

  constructor(order: QueueOrder) {
    this.#order = order
  }

  put(line: Line, priority: number, texts: readonly string[], isHead: boolean): void {
    const { entries } = line
    if (!entries) {
      this.#toLists(line, priority, texts, isHead)
      return
    }
    for (const text of isHead ? [...texts].reverse() : texts) {
      // Where the last that came goes first, the head is the end.
      if (isHead && this.#order !== 'lifo') entries.unshift({ priority, text })
      else entries.push({ priority, text })
    }
    if (bytesOf(entries) > LINE_BYTES_MAX) this.spill(line)
  }

  spill(line: Line): void {
    line.hasPriorities = line.entries!.some(({ priority }) => priority !== 0)
    for (const { priority, text } of line.entries!) inMap(line.lists, priority, () => []).push(text)
    line.entries = undefined
  }

  headOf(line: Line): number | undefined {
    if (line.entries) return line.entries[this.#firstOf(line.entries)]?.priority
    return headOfLists(line.lists)
  }

  takeOff(line: Line, most: number): Entry[] {
    const taken: Entry[] = []
    const { entries } = line
    if (!entries) this.#takeOffLists(line, most, taken)
    else
      while (taken.length < most && entries.length > 0)
        taken.push(...entries.splice(this.#firstOf(entries), 1))
    return taken
  }

  lengthOf(line: Line): number {
    return line.entries?.length ?? line.lists.get(headOfLists(line.lists) ?? 0)?.length ?? 0
  }

  #toLists(line: Line, priority: number, texts: readonly string[], isHead: boolean): void {
    const list = inMap(line.lists, priority, () => [])
    line.hasPriorities ||= priority !== 0
    if (!isHead) list.push(...texts)
    else if (this.#order === 'lifo') list.push(...[...texts].reverse())
    else list.unshift(...texts)
  }

  #firstOf(entries: readonly Entry[]): number {
    if (this.#order === 'lifo') return entries.length - 1
    let first = 0
    if (this.#order === 'priority')
      for (const [at, { priority }] of entries.entries()) if (priority > entries[first]!.priority) first = at
    return first
  }

  #takeOffLists({ lists }: Line, most: number, taken: Entry[]): void {
    while (taken.length < most) {
      const priority = headOfLists(lists)
      if (priority === undefined) return
      const list = lists.get(priority)!
      const text = (this.#order === 'lifo' ? list.pop() : list.shift())!
      taken.push({ priority, text })
      if (list.length === 0) lists.delete(priority)
    }
  }
}

function headOfLists(lists: ReadonlyMap<number, readonly string[]>): number | undefined {
  let top: number | undefined
  for (const priority of lists.keys()) if (top === undefined || priority > top) top = priority
  return top
}

function bytesOf(entries: readonly Entry[]): number {
  let bytes = 0
  for (const { text } of entries) bytes += text.length
  return bytes
}
