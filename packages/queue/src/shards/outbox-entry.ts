/** Entries of outboxes, as their writer has them in memory when it has been told their numbers. */

import type { Placed } from '../frontier/turn-protocol.ts'

/** What a script has written to outboxes for one shard: so many entries, in the order of their requests, from a number on. */
export interface SentEntries {
  readonly shard: string
  readonly epoch: string
  readonly from: number
  readonly count: number
}

/** @param flat shard, epoch, number, how many, … as `lua/outbox/send.lua` has them */
export function sentEntriesOf(flat: readonly (string | number)[]): SentEntries[] {
  const sent: SentEntries[] = []
  for (let at = 0; at < flat.length; at += 4) {
    const [shard, epoch, from, count] = flat.slice(at, at + 4)
    sent.push({ shard: String(shard), epoch: String(epoch), from: Number(from), count: Number(count) })
  }
  return sent
}

/** Entries of one sender and epoch, for one receiver. */
export interface Delivery {
  readonly sender: string
  readonly epoch: string
  /** The number of the first entry in the sender's list, for entries that were read from there. */
  readonly listFrom?: number
  readonly entries: readonly string[]
}

/** The bucket of another shard, for what goes on there in the name of that asker. */
export function addressIn(shard: string, asker: string, bucket: string): string {
  return `>${shard}\n${asker}\n${bucket}`
}

/** Returns what an address says; undefined for a bucket of the same shard. */
export function addressOf(text: string): { shard: string; asker: string; bucket: string } | undefined {
  if (!text.startsWith('>')) return undefined
  const [first, last] = [text.indexOf('\n'), text.lastIndexOf('\n')]
  if (last <= first) return undefined
  return { shard: text.slice(1, first), asker: text.slice(first + 1, last), bucket: text.slice(last + 1) }
}

/** @param text of the request, as lines have it */
export function entryText(
  number: number,
  asker: string,
  { bucket, slot, priority }: Omit<Placed, 'place' | 'texts'>,
  text: string,
): string {
  return `${number}${readyEntry(asker, { bucket, slot, priority }, text)}`
}

/** Returns an entry that lacks but its number. */
export function readyEntry(
  asker: string,
  { bucket, slot, priority }: Omit<Placed, 'place' | 'texts'>,
  text: string,
): string {
  return `\n${asker}\n${bucket}\n${slot}\n${priority}\n${text}`
}

/** An entry as its receiver's script gets it. */
interface OpenedEntry {
  readonly number: number
  /** `<bucket>\n<slot>\n<priority>` */
  readonly line: string
  /** `<asker>\n<request id>`, by which it is known for a while. */
  readonly member: string
  readonly text: string
}

/** Entries with numbers that follow one another. */
export interface EntryRun extends Omit<Delivery, 'entries'> {
  readonly from: number
  readonly entries: readonly OpenedEntry[]
}

/** Returns what deliveries have, opened: as text an entry would be copied three times in its receiver's script. */
export function runsOf(deliveries: readonly Delivery[]): EntryRun[] {
  const runs: (EntryRun & { entries: OpenedEntry[] })[] = []
  for (const { entries, ...of } of deliveries) {
    let next: number | undefined
    for (const one of entries.map(openedEntry)) {
      if (one.number !== next) runs.push({ ...of, from: one.number, entries: [] })
      runs.at(-1)!.entries.push(one)
      next = one.number + 1
    }
  }
  return runs
}

function openedEntry(entry: string): OpenedEntry {
  const number = entry.indexOf('\n')
  const asker = entry.indexOf('\n', number + 1)
  const slot = entry.indexOf('\n', entry.indexOf('\n', asker + 1) + 1)
  const priority = entry.indexOf('\n', slot + 1)
  const id = entry.indexOf('\n', priority + 1)
  return {
    number: Number(entry.slice(0, number)),
    line: entry.slice(asker + 1, priority),
    member: `${entry.slice(number + 1, asker)}\n${entry.slice(priority + 1, id)}`,
    text: entry.slice(priority + 1),
  }
}

/**
 * Returns what is to be delivered, by receiver, of groups that a script was given. Where it has not written all that it was given for one,
 * which ones is not known: those are left to whoever tends the outboxes.
 */
export function deliveriesOf(
  sender: string,
  groups: readonly Placed[],
  sent: readonly SentEntries[],
): Map<string, Delivery[]> {
  const given = new Map<
    string,
    { readonly group: Placed; readonly asker: string; readonly bucket: string }[]
  >()
  for (const group of groups) {
    const to = group.place === 'end' || group.place === 'again' ? addressOf(group.bucket) : undefined
    if (to) inMap(given, to.shard).push({ group, ...to })
  }
  const deliveries = new Map<string, Delivery[]>()
  for (const { shard, epoch, from, count } of sent) {
    let number = from
    const entries = (given.get(shard) ?? []).flatMap(({ group, asker, bucket }) =>
      group.texts.map((text) => entryText(number++, asker, { ...group, bucket }, text)),
    )
    if (entries.length === count) deliveries.set(shard, [{ sender, epoch, entries }])
  }
  return deliveries
}

function inMap<T>(map: Map<string, T[]>, key: string): T[] {
  const known = map.get(key)
  if (known) return known
  const made: T[] = []
  map.set(key, made)
  return made
}
