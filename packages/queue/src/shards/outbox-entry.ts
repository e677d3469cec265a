/** Entries of outboxes, as their writer has them in memory when it has been told their numbers. */

import type { Placed } from '../frontier/turn-protocol.ts'

/** What a script has written to outboxes: of each group of requests its address, the epoch, and the number of its first entry. */
export interface SentGroup {
  readonly address: string
  readonly epoch: string
  readonly from: number
}

/** @param flat address, epoch, number, … as `lua/outbox/send.lua` has them */
export function sentGroupsOf(flat: readonly (string | number)[]): SentGroup[] {
  const sent: SentGroup[] = []
  for (let at = 0; at < flat.length; at += 3)
    sent.push({ address: String(flat[at]), epoch: String(flat[at + 1]), from: Number(flat[at + 2]) })
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
  const [first, last] = [text.indexOf('\n'), text.lastIndexOf('\n')]
  if (!text.startsWith('>') || last <= first) return undefined
  return { shard: text.slice(1, first), asker: text.slice(first + 1, last), bucket: text.slice(last + 1) }
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
 * Returns what is to be delivered, by receiver, of groups that a script was given. Where it has not written all of an address, which
 * ones is not known: those are left to whoever tends the outboxes.
 */
export function deliveriesOf(
  sender: string,
  groups: readonly Placed[],
  sent: readonly SentGroup[],
): Map<string, Delivery[]> {
  const given = Map.groupBy(groups, ({ bucket }) => bucket)
  for (const [address, written] of Map.groupBy(sent, (one) => one.address))
    if (written.length !== given.get(address)?.length) given.delete(address)
  const deliveries = new Map<string, Delivery[]>()
  for (const { address, epoch, from } of sent) {
    const group = given.get(address)?.shift()
    const to = addressOf(address)
    if (!group || !to) continue
    const line = { ...group, bucket: to.bucket }
    const entries = group.texts.map((text, n) => entryText(from + n, to.asker, line, text))
    const all = deliveries.get(to.shard) ?? []
    all.push({ sender, epoch, entries })
    deliveries.set(to.shard, all)
  }
  return deliveries
}
