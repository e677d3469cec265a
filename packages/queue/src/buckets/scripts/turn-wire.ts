/** Turns as the arguments and replies of scripts. The order of both is that of `lua/buckets/exchange.lua`. */

import {
  type Asked,
  asksAny,
  type Ended,
  type HoldingTurn,
  type JobChanges,
  type LineBehind,
  type LockedTurn,
  type Nudge,
  type Placed,
  type SlotKnown,
  type SlotTold,
  type Taken,
  type TurnAnswer,
  type TurnUpdate,
  type UnitStatus,
  type Wake,
} from '../../frontier/turn-protocol.ts'
import { addressOf, readyEntry } from '../../shards/outbox-entry.ts'

export type Argument = string | number | Buffer

type KnownReply = [waitMs: number, floorMs: number, failures: number, pausedMs: number]
export type UnitStatusReply = [head: string, ready: number, dueInMs: number | '', ...(KnownReply | [])]
export type JobChangesReply = [woken: string[], raised: string[]]
/** Of one slot; `texts`: priority and text of each request. */
type TakenReply = [slot: string, waiting: number, head: string, known: KnownReply | '', ...texts: string[]]
type BehindReply = [slot: string, waiting: number, head: string]
export type TurnReply =
  | ['over']
  | ['lost', reclaimed: string]
  | ['held' | 'left', UnitStatusReply, TakenReply[], kept?: BehindReply[]]

export function addTurn(args: Argument[], turn: TurnUpdate): void {
  const { unit, lane, generation, holder, ended, told, returned, asked } = turn
  args.push(unit, lane, generation, holder)
  addEnded(args, ended)
  args.push(told.length)
  for (const one of told) addTold(args, one)
  args.push(returned.length)
  for (const one of returned) {
    addTold(args, one)
    args.push(one.lanes, one.mixed)
  }
  if (!unit.startsWith('#')) args.push(asked.delayMs, asked.lanes)
  if (turn.leaves) args.push('leave')
  else if (turn.heats > 0) args.push('heat', turn.heats)
  else if (asksAny(asked)) addAsked(args, asked)
  else args.push('')
}

/** Most pages bring no request that is new: then the token says it all. */
function addEnded(args: Argument[], ended: readonly Ended[]): void {
  const bare = ended.filter(isBare)
  args.push(bare.length)
  for (const { token } of bare) args.push(token)
  args.push(ended.length - bare.length)
  for (const one of ended) {
    if (isBare(one)) continue
    const { token, id = '', refusal = '', hot = '', placed } = one
    args.push(token, id, refusal, hot, placed.length)
    for (const group of placed) addPlaced(args, group)
  }
}

/** What a page has led to in another shard goes as entries of the outbox, which lack but their numbers. */
function addPlaced(args: Argument[], { place, bucket, slot, priority, texts, bytes = texts }: Placed): void {
  const to = place === 'end' ? addressOf(bucket) : undefined
  if (!to) args.push(place, bucket, slot, priority, bytes.length, ...bytes)
  else {
    args.push('>', to.shard, texts.length)
    for (const text of texts) args.push(readyEntry(to.asker, { bucket: to.bucket, slot, priority }, text))
  }
}

function isBare({ id, refusal, hot, placed }: Ended): boolean {
  return placed.length === 0 && id === undefined && refusal === undefined && hot === undefined
}

function addAsked(args: Argument[], asked: Asked): void {
  const { more, slots, each, batch, aheadMs, bytes, concurrency } = asked
  args.push('take', more.length)
  for (const { slot, most } of more) args.push(slot, most)
  args.push(slots, each, batch, aheadMs, bytes, concurrency)
}

function addTold(args: Argument[], { slot, waitMs, news }: SlotTold): void {
  args.push(slot, wholeMs(waitMs), flag(news !== undefined))
  if (!news) return
  const { delayMs, failures = '', pauseMs, pauseReason = '' } = news
  args.push(wholeMs(delayMs), failures, wholeMs(pauseMs), pauseReason)
}

export function answerOf(reply: TurnReply, { asked }: TurnUpdate): TurnAnswer {
  if (reply[0] === 'over') return { status: 'over' }
  if (reply[0] === 'lost') return lostOf(reply[1])
  const [status, unitStatus, taken, kept] = reply
  return {
    status,
    unitStatus: unitStatusOf(unitStatus),
    taken: takenOf(taken, asked.batch),
    ...(kept && { kept: kept.map(behindOf) }),
  }
}

/** Workers of earlier releases note that something was reclaimed, and not what. */
function lostOf(reclaimed: string): TurnAnswer {
  return { status: 'lost', ...(reclaimed !== '1' && { reclaimed: reclaimed.split(' ') }) }
}

/** The n-th request of a take has the token `<batch>.<n>`. */
function takenOf(replies: readonly TakenReply[], batch: number): Taken[] {
  const taken: Taken[] = []
  for (const [slot, waiting, head, known, ...texts] of replies) {
    const ofSlot = {
      ...behindOf([slot, waiting, head]),
      ...(known !== '' && { known: knownOf(known) }),
    }
    for (let at = 0; at < texts.length; at += 2)
      taken.push({
        ...ofSlot,
        token: `${batch}.${taken.length + 1}`,
        priority: Number(texts[at]),
        text: texts[at + 1]!,
      })
  }
  return taken
}

function behindOf([slot, waiting, head]: BehindReply): LineBehind {
  return { slot, waiting, ...(head !== '' && { head: Number(head) }) }
}

function knownOf([waitMs, floorMs, failures, pausedMs]: KnownReply): SlotKnown {
  return { waitMs, floorMs, failures, pausedMs }
}

export function unitStatusOf([head, ready, dueInMs, ...known]: UnitStatusReply): UnitStatus {
  return {
    ...(head !== '' && { head: Number(head) }),
    ready,
    ...(dueInMs !== '' && { dueInMs }),
    ...(known.length > 0 && { known: knownOf(known as KnownReply) }),
  }
}

export function jobChangesOf([woken, raised]: JobChangesReply): JobChanges {
  return { woken: wakesOf(woken), raised: wakesOf(raised) }
}

export function wakesOf(flat: readonly string[]): Wake[] {
  const wakes: Wake[] = []
  for (let at = 0; at < flat.length; at += 2) wakes.push({ job: flat[at]!, priority: Number(flat[at + 1]) })
  return wakes
}

export function nudgesOf(flat: readonly string[]): Nudge[] {
  const nudges: Nudge[] = []
  for (let at = 0; at < flat.length; at += 3) {
    const [unit = '', priority, slot] = flat.slice(at, at + 3)
    nudges.push({ unit, priority: Number(priority), ...(slot && { slot }) })
  }
  return nudges
}

function wholeMs(ms: number | undefined): number | '' {
  return ms === undefined ? '' : Math.ceil(ms)
}

export function flag(is: boolean): '1' | '' {
  return is ? '1' : ''
}

/** For the lock keeper: it learns late what has ended, so nothing is compared. */
export function lockArgs({ job, lockToken, holder }: LockedTurn): (string | number)[] {
  return [job, lockToken, holder, 0, 0, 0]
}

export function holdingArgs(
  { job, lockToken, holder, delayMs, batch, tokens }: HoldingTurn,
  coming: number,
): Argument[] {
  return [job, lockToken, holder, delayMs, batch ?? coming, tokens.length, ...tokens]
}
