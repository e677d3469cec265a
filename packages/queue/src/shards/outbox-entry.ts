/** Entries of outboxes, as their writer has them in memory when it has been told their numbers. */

import type { Placed } from '../frontier/turn-protocol.ts'

/** What a script has written to outboxes: of each group of requests its place, the epoch, and the number of its first entry. */
export interface SentGroup {
  readonly place: string
  readonly epoch: string
  readonly from: number
}

/** @param flat place, epoch, number, … as `lua/outbox/send.lua` has them */
export function sentGroupsOf(flat: readonly (string | number)[]): SentGroup[] {
  const sent: SentGroup[] = []
  for (let at = 0; at < flat.length; at += 3)
    sent.push({ place: String(flat[at]), epoch: String(flat[at + 1]), from: Number(flat[at + 2]) })
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

/** The place of links that go on in another shard, in the name of their page; `self` for the request itself. */
export function placeIn(shard: string, asker: string, self = false): `>${string}` | `^${string}` {
  return self ? `^${shard}\n${asker}` : `>${shard}\n${asker}`
}

/** Returns the receiver of a group and its asker; undefined for a place in the same shard. */
export function addresseeOf(place: Placed['place']): { shard: string; asker: string } | undefined {
  const text = String(place)
  const end = text.indexOf('\n')
  return /^[>^]/.test(text) && end > 0 ? { shard: text.slice(1, end), asker: text.slice(end + 1) } : undefined
}

/** @param text of the request, as lines have it */
export function entryText(
  number: number,
  asker: string,
  { bucket, slot, priority }: Omit<Placed, 'place' | 'texts'>,
  text: string,
): string {
  return [number, asker, bucket, slot, priority, text].join('\n')
}

/**
 * Returns what is to be delivered, by receiver, of groups that a script was given. Where it has not written all of a place, which
 * ones is not known: those are left to whoever tends the outboxes.
 */
export function deliveriesOf(
  sender: string,
  groups: readonly Placed[],
  sent: readonly SentGroup[],
): Map<string, Delivery[]> {
  const waiting = new Map<string, Placed[]>()
  for (const group of groups) {
    const same = waiting.get(String(group.place)) ?? []
    same.push(group)
    waiting.set(String(group.place), same)
  }
  const written = new Map<string, number>()
  for (const { place } of sent) written.set(place, (written.get(place) ?? 0) + 1)
  for (const [place, all] of waiting) if (written.get(place) !== all.length) waiting.delete(place)
  const deliveries = new Map<string, Delivery[]>()
  for (const { place, epoch, from } of sent) {
    const group = waiting.get(place)?.shift()
    const to = addresseeOf(place as Placed['place'])
    if (!group || !to) continue
    const entries = group.texts.map((text, n) => entryText(from + n, to.asker, group, text))
    const all = deliveries.get(to.shard) ?? []
    all.push({ sender, epoch, entries })
    deliveries.set(to.shard, all)
  }
  return deliveries
}
