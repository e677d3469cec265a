/**
 * Which entries a shard has for another, and which of them that one knows. Entries to one receiver are numbered in one sequence. An
 * epoch is a stretch of it that one history of the sender's server has given out, `<replid>.<first number>`: a server that
 * has gone back gives out numbers again, and they are those of other entries.
 */

/** What is in a sender's list for one receiver: from a number on, the epochs, the oldest first, each up to its last number. */
export interface SentSpans {
  readonly from: number
  readonly spans: readonly { readonly epoch: string; readonly to: number }[]
}

/** What a receiver knows of one epoch: all up to a number, and some beyond it. */
export interface Applied {
  readonly upTo: number
  readonly beyond: ReadonlySet<number>
}

/** By epoch. */
export type AppliedEpochs = ReadonlyMap<string, Applied>

/** A number of the epoch that it was given out in. */
export interface EntryNumber {
  readonly epoch: string
  readonly number: number
}

/** The first number of an epoch. */
export function firstOf(epoch: string): number {
  return Number(epoch.slice(epoch.indexOf('.') + 1))
}

/** Returns whether a sender's list for a receiver has anything. */
export function hasEntries([, { from, spans }]: readonly [receiver: string, SentSpans]): boolean {
  return (spans.at(-1)?.to ?? 0) >= from
}

/** @param text as `lua/outbox/send.lua` keeps it */
export function sentSpansOf(text: string): SentSpans {
  const [from = '1', ...rest] = text.split(' ')
  const spans: { epoch: string; to: number }[] = []
  for (let at = 0; at + 1 < rest.length; at += 2) spans.push({ epoch: rest[at]!, to: Number(rest[at + 1]) })
  return { from: Number(from), spans }
}

/** @param text as `lua/outbox/applied.lua` keeps it */
export function appliedEpochsOf(text: string): AppliedEpochs {
  const words = text.split(' ')
  const epochs = new Map<string, Applied>()
  for (let at = 0; at + 2 < words.length; at += 3) {
    const beyond = words[at + 2] === '-' ? [] : words[at + 2]!.split(',').map(Number)
    epochs.set(words[at]!, { upTo: Number(words[at + 1]), beyond: new Set(beyond) })
  }
  return epochs
}

/** The highest number up to which the receiver knows all that is in the list; undefined when it lacks the first, or the list is empty. */
export function knownUpTo({ from, spans }: SentSpans, applied: AppliedEpochs): EntryNumber | undefined {
  let known: EntryNumber | undefined
  for (const { epoch, to } of spans) {
    if (to < from) continue
    const upTo = Math.min(to, applied.get(epoch)?.upTo ?? firstOf(epoch) - 1)
    if (upTo >= Math.max(from, firstOf(epoch))) known = { epoch, number: upTo }
    if (upTo < to) break
  }
  return known
}

/** The number of the first entry that the receiver may lack; undefined when it knows all that is in the list. */
export function firstLacking(sent: SentSpans, applied: AppliedEpochs): EntryNumber | undefined {
  for (const { epoch, to } of sent.spans) {
    const number = Math.max(sent.from, firstOf(epoch), (applied.get(epoch)?.upTo ?? 0) + 1)
    if (number <= to) return { epoch, number }
  }
  return undefined
}

/** Returns how many of the entries in the list the receiver lacks. */
export function countLacking({ from, spans }: SentSpans, applied: AppliedEpochs): number {
  let count = 0
  for (const { epoch, to } of spans) {
    const known = applied.get(epoch)
    const first = Math.max(from, firstOf(epoch), (known?.upTo ?? 0) + 1)
    const beyond = [...(known?.beyond ?? [])].filter((number) => number >= first && number <= to)
    count += Math.max(0, to - first + 1) - beyond.length
  }
  return count
}

/** The sum of the last numbers that a sender has given out, of all its receivers: another one after each entry. */
export function countSent(sent: ReadonlyMap<string, SentSpans>): number {
  return [...sent.values()].reduce((sum, { spans }) => sum + (spans.at(-1)?.to ?? 0), 0)
}

/** Returns whether a number was given out in that epoch, and is in the list. */
export function isInList({ from, spans }: SentSpans, { epoch, number }: EntryNumber): boolean {
  return number >= from && spans.some((span) => span.epoch === epoch && number <= span.to)
}
