/** Requests on their way into lines, as scripts get them. */

import type { StartSpan } from '../../crawl/start-span.ts'
import type { Placed } from '../../frontier/turn-protocol.ts'
import type { ReadEntries } from '../../visits/read-entries.ts'
import type { CommandNumber } from './command-numbers.ts'

/** Requests to be pushed to one line, with their ids. */
export interface Pushed extends Omit<Placed, 'texts'> {
  readonly place: 'end' | 'doubt'
  readonly requests: readonly { readonly id: string; readonly text: string }[]
}

/** Links whose doubt is over; `args` as in leasing/doubts-end.lua. */
export interface EndedDoubts {
  readonly args: readonly (string | number)[]
  readonly fresh: readonly Pushed[]
}

/** Failed requests that go back to one line. */
export interface RetriedGroup extends Pick<Placed, 'bucket' | 'slot' | 'priority'> {
  readonly requests: readonly { readonly id: string; readonly key: string; readonly text: string }[]
}

/** Pages that are due, for one line. */
export interface DueGroup extends Pick<Placed, 'bucket' | 'slot' | 'priority'> {
  readonly requests: readonly { readonly name: Buffer; readonly text: string }[]
}

/** What one step queues of the pages that are due. */
export interface DuePart extends ReadEntries {
  readonly groups: readonly DueGroup[]
}

export interface PushPart {
  readonly command: CommandNumber
  readonly asker: string
  readonly isNoting: boolean
  /** Set for elements of start(), whose numbers take the place of ids. */
  readonly start?: StartSpan
  readonly groups: readonly Pushed[]
}

/** What is ordered for a slot. */
export interface SlotSteered {
  readonly bucket: string
  readonly slot: string
  /** From now on; 0 ends a pause. Absent: as it is. */
  readonly pauseMs?: number
  readonly why?: string
  /** Absent: none is ordered. */
  readonly delayMs?: number
  /** By how much boosted requests are more urgent than others. */
  readonly boost: number
  readonly isBoosted: boolean
}

/** Adds a group to the arguments of a script. */
export function addGroup(
  args: (string | number | Buffer)[],
  { bucket, slot, priority, requests }: Pushed,
): void {
  args.push(bucket, slot, priority, requests.length)
  for (const { id, text } of requests) args.push(id, text)
}
