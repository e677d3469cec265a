/** The files of `lua/outbox/` as functions on what a shard holds of outboxes, its own and those of others. */

import type { Delivery, SentEntries } from '../../src/shards/outbox-entry.ts'
import { firstOf, isInList } from '../../src/shards/outbox-numbers.ts'
import type { Trim } from '../../src/shards/outbox-tender.ts'
import type { ShardState } from '../../src/shards/shard-state.ts'
import { type FrontierState, inMap } from './frontier-state.ts'
import type { ModelApplied, ModelOutbox, ModelSpans } from './outbox-state.ts'

const REPLID_CHARS = 12
const IDS_KEPT_MS = 60_000
const EPOCHS_MAX = 8
const AHEAD_MAX = 10_000

/** Requests of one line, on their way to another shard. */
export interface SentLine {
  readonly shard: string
  readonly asker: string
  readonly bucket: string
  readonly slot: string
  readonly priority: number
  readonly texts: readonly string[]
}

export function send(
  outbox: ModelOutbox,
  replid: string,
  { shard, asker, bucket, slot, priority, texts }: SentLine,
): SentEntries {
  const { sent, lists } = outbox
  const list = inMap<string, ModelSpans>(sent, shard, () => ({ from: 1, spans: [] }))
  const now = replid.slice(0, REPLID_CHARS)
  const last = list.spans.at(-1)?.to ?? list.from - 1
  if (list.spans.at(-1)?.epoch.split('.')[0] !== now)
    list.spans.push({ epoch: `${now}.${last + 1}`, to: last })
  const span = list.spans.at(-1)!
  const entries = texts.map((text, n) => [last + 1 + n, asker, bucket, slot, priority, text].join('\n'))
  inMap<string, string[]>(lists, shard, () => []).push(...entries)
  for (const entry of entries) outbox.bytes += Buffer.byteLength(entry)
  span.to = last + texts.length
  dropEmpty(list)
  return { shard, epoch: span.epoch, from: last + 1, count: texts.length }
}

/** Of one script: those to one receiver follow one another. */
export function together(sent: readonly SentEntries[]): SentEntries[] {
  return [...Map.groupBy(sent, ({ shard }) => shard).values()].map((ofShard) => ({
    ...ofShard[0]!,
    count: ofShard.reduce((sum, { count }) => sum + count, 0),
  }))
}

function dropEmpty(list: ModelSpans): void {
  while (list.spans.length > 1 && list.spans[0]!.to < list.from) list.spans.shift()
}

/** What a shard does with a request that has come to it. */
export type Append = (line: Pick<SentLine, 'bucket' | 'slot' | 'priority' | 'texts'>) => void

export function apply(
  outbox: ModelOutbox,
  nowMs: number,
  deliveries: readonly Delivery[],
  append: Append,
): { added: number; lost: number } {
  const lines = new Map<string, { bucket: string; slot: string; priority: number; texts: string[] }>()
  let [added, lost] = [0, 0]
  for (const { sender, epoch, listFrom, entries } of deliveries) {
    const epochs = inMap(outbox.applied, sender, () => new Map())
    const known = inMap<string, ModelApplied>(epochs, epoch, () => ({
      upTo: firstOf(epoch) - 1,
      beyond: new Set(),
    }))
    while (listFrom !== undefined && known.upTo < listFrom - 1) {
      if (!known.beyond.has(known.upTo + 1)) lost++
      note(known, known.upTo + 1)
    }
    for (const entry of entries) {
      const [number, asker, bucket, slot, priority, ...text] = entry.split('\n')
      const n = Number(number)
      if (n <= known.upTo || known.beyond.has(n) || n > known.upTo + AHEAD_MAX) continue
      note(known, n)
      if (!isNew(outbox, nowMs, `${asker}\n${text[0]}`)) continue
      const line = inMap(lines, `${slot}\n${priority}`, () => ({
        ...{ bucket: bucket!, slot: slot! },
        priority: Number(priority),
        texts: [] as string[],
      }))
      line.texts.push(text.join('\n'))
      added++
    }
    while (epochs.size > EPOCHS_MAX) epochs.delete(epochs.keys().next().value!)
  }
  for (const line of lines.values()) append(line)
  return { added, lost }
}

function note(known: ModelApplied, number: number): void {
  known.beyond.add(number)
  while (known.beyond.delete(known.upTo + 1)) known.upTo++
}

export function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / IDS_KEPT_MS)
}

function isNew({ ids }: ModelOutbox, nowMs: number, member: string): boolean {
  const minute = minuteOf(nowMs)
  for (const old of ids.keys()) if (old < minute - 1) ids.delete(old)
  if (ids.get(minute - 1)?.has(member)) return false
  const now = inMap(ids, minute, () => new Set())
  return now.size < now.add(member).size
}

export function stateOf(
  { counts, outbox }: Pick<FrontierState, 'counts' | 'outbox'>,
  replid: string,
  nowMs: number,
  mayFinish = false,
): ShardState {
  const { waiting, delayed, leased } = counts
  const { sent, applied } = structuredClone(outbox)
  const place = { replid: replid.slice(0, REPLID_CHARS), nowMs, offset: 0 }
  return { ...place, run: '', mayFinish, waiting, delayed, leased, sent, applied }
}

export function read(
  { sent, lists }: ModelOutbox,
  sender: string,
  receiver: string,
  from: number,
  most: number,
): Delivery[] {
  const list = sent.get(receiver)
  if (!list) return []
  const at = Math.max(0, from - list.from)
  const entries = (lists.get(receiver) ?? []).slice(at, at + most)
  return list.spans.flatMap(({ epoch, to }) => {
    const ofEpoch = entries.filter((entry) => {
      const number = Number.parseInt(entry, 10)
      return number >= firstOf(epoch) && number <= to
    })
    return ofEpoch.length > 0 ? [{ sender, epoch, listFrom: list.from, entries: ofEpoch }] : []
  })
}

export function trim(outbox: ModelOutbox, trims: readonly Pick<Trim, 'receiver' | 'upTo'>[]): number {
  const { sent, lists } = outbox
  let all = 0
  for (const list of lists.values()) all += list.length
  let gone = 0
  for (const { receiver, upTo } of trims) {
    const list = sent.get(receiver)
    if (!list || !isInList(list, upTo)) continue
    const entries = lists.get(receiver)!
    const count = entries.splice(0, upTo.number - list.from + 1).length
    outbox.bytes -= Math.floor((outbox.bytes * count) / all)
    gone += count
    all -= count
    if (entries.length === 0) lists.delete(receiver)
    list.from = upTo.number + 1
    dropEmpty(list)
  }
  return gone
}

/** As Redis has it. */
export function dumpOfOutbox(
  { sent, lists, applied, ids }: ModelOutbox,
  minute: number,
): [name: string, value: Record<string, string> | readonly string[]][] {
  const sentFields = [...sent].map(([shard, { from, spans }]) => [
    shard,
    [from, ...spans.flatMap(({ epoch, to }) => [epoch, to])].join(' '),
  ])
  const appliedFields = [...applied].map(([sender, epochs]) => [
    sender,
    [...epochs]
      .flatMap(([epoch, { upTo, beyond }]) => [
        epoch,
        upTo,
        [...beyond].sort((a, b) => a - b).join(',') || '-',
      ])
      .join(' '),
  ])
  return [
    ['sent', Object.fromEntries(sentFields)],
    ['applied', Object.fromEntries(appliedFields)],
    ...[...lists].map(([shard, list]): [string, readonly string[]] => [`outbox:${shard}`, list]),
    ...[...ids]
      .filter(([of]) => of >= minute - 1)
      .map(([of, set]): [string, readonly string[]] => [`ids:${of}`, [...set].sort()]),
  ]
}
