/** The scripts of buckets, `lua/buckets/`, with their arguments and replies as values. */

import { PROTOCOL_TIMES, type ProtocolTimes, type QueueCounts, type QueueOrder } from '@webloom/core'
import type { Redis } from 'ioredis'
import { RunOver } from '../../crawl/crawl-run.ts'
import { startGap } from '../../crawl/start-span.ts'
import {
  type BegunTurn,
  type HoldingTurn,
  type JobChanges,
  type Renewed,
  type TurnAnswer,
  type TurnUpdate,
  type UnitStatus,
  type Wake,
  withNotes,
} from '../../frontier/turn-protocol.ts'
import { idsOf } from '../../leasing/doubts.ts'
import type { Renewal } from '../../locks/lock-keeper.ts'
import type { Swept } from '../../members/crawl-channel.ts'
import type { CrawlRedisKeys } from '../../redis/crawl-redis-keys.ts'
import { type SentEntries, sentEntriesOf } from '../../shards/outbox-entry.ts'
import {
  aloneScript,
  beginScript,
  clearScript,
  countsScript,
  inFlightScript,
  nudgeScript,
  OF_SEVERAL,
  ONE_SHARD,
  REVISITING,
  renewScript,
  settleScript,
  steerScript,
  tidyScript,
  watchScript,
} from './bucket-lua.ts'
import { type CommandNumber, WentBack } from './command-numbers.ts'
import { queueDue } from './due-script.ts'
import { keyListOf } from './key-list.ts'
import {
  addGroup,
  type DuePart,
  type EndedDoubts,
  type PushPart,
  type RetriedGroup,
  type SlotSteered,
} from './placed-lines.ts'
import {
  type Argument,
  addTurn,
  answerOf,
  flag,
  holdingArgs,
  type JobChangesReply,
  jobChangesOf,
  type TurnReply,
  type UnitStatusReply,
  unitStatusOf,
  wakesOf,
} from './turn-wire.ts'

const CLEAR_PAGE = 100
/** A crawl whose workers were all lost may stand over a long weekend, and its suspects are still known: a week, as in `lua/buckets/steps/take.lua`. */
const STARTED_KEPT_MS = 7 * 86_400_000
/** The reply to a push of start() when elements before it are missing. */
const START_GAP = -1
/** The reply to a command of a run that was cleared, or followed by another. */
const RUN_OVER = -2

type Script = (typeof ONE_SHARD)['push']
type ExchangeReply = [TurnReply[], ...JobChangesReply, number, sent?: (string | number)[]]

export interface BucketScriptsOptions {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly order: QueueOrder
  readonly times?: ProtocolTimes
  /** The crawl has several shards, of which this is one. */
  readonly isShard?: boolean
  /** The crawl comes back to its pages. */
  readonly revisits?: boolean
}

export class BucketScripts {
  readonly #redis: Redis
  readonly #keys: CrawlRedisKeys
  readonly #keyList: readonly string[]
  readonly #order: QueueOrder
  readonly #times: ProtocolTimes
  readonly #scripts: typeof ONE_SHARD

  constructor({ redis, keys, order, times = PROTOCOL_TIMES, ...of }: BucketScriptsOptions) {
    this.#redis = redis
    this.#keys = keys
    this.#order = order
    this.#times = times
    this.#keyList = keyListOf(keys)
    this.#scripts = of.isShard ? OF_SEVERAL : of.revisits ? REVISITING : ONE_SHARD
  }

  /** Rejects with `WentBack`, `RunOver`, or WL_LEASE_LOST for elements of start() before which others were lost. */
  async push({
    command,
    asker,
    isNoting,
    start,
    groups,
  }: PushPart): Promise<JobChanges & { added: number; sent?: SentEntries[] }> {
    const args: Argument[] = [...commandArgs(command), asker, flag(isNoting)]
    args.push(start?.from ?? '', start?.to ?? '', groups.length)
    for (const group of groups) {
      args.push(group.place)
      addGroup(args, group)
    }
    const reply = (await this.#run(this.#scripts.push, args)) as
      | [number, ...JobChangesReply, sent?: (string | number)[]]
      | number
    if (reply === START_GAP) throw startGap()
    if (typeof reply === 'number') throw refusalOf(reply)
    const [added, woken, raised, sent] = reply
    return { added, ...(sent && { sent: sentEntriesOf(sent) }), ...jobChangesOf([woken, raised]) }
  }

  /** Resolves to why it has not begun: `gone`, it is over; `taken`, another worker has it. */
  async begin(
    turn: BegunTurn,
    quarantineAfter: number,
  ): Promise<(JobChanges & { unitStatus: UnitStatus; reclaimed: number }) | 'gone' | 'taken'> {
    const { unit, lane, generation, holder, delayMs, isSecond, lockToken, ownDelays = [] } = turn
    const { lockMs } = this.#times.turns
    const args = [unit, lane, generation, holder, delayMs, quarantineAfter, flag(isSecond), lockToken, lockMs]
    for (const slotAndDelay of ownDelays) args.push(...slotAndDelay)
    const reply = (await this.#run(beginScript, args)) as
      | ['gone' | 'taken']
      | ['begun', UnitStatusReply, number, ...JobChangesReply]
    if (reply[0] !== 'begun') return reply[0]
    const [, unitStatus, reclaimed, ...jobChanges] = reply
    return { unitStatus: unitStatusOf(unitStatus), reclaimed, ...jobChangesOf(jobChanges) }
  }

  /**
   * Sends everything in one step. With `isGrowing` nothing is done on a Redis at its maxmemory; otherwise it is done even
   * there. Rejects with `WentBack` or `RunOver`. `sent`: what was written for other shards.
   *
   * @param starts so many of what is taken leave as soon as they are here, or a moment later: they are noted as started
   */
  async exchange(
    turns: readonly TurnUpdate[],
    isGrowing: boolean,
    command: CommandNumber,
    starts = 0,
  ): Promise<JobChanges & { answers: TurnAnswer[]; trimmed: number; sent?: SentEntries[] }> {
    const args: Argument[] = [isGrowing ? 'grows' : '', ...commandArgs(command), starts, turns.length]
    for (const turn of turns) addTurn(args, turn)
    const reply = (await this.#run(this.#scripts.exchange, args)) as ExchangeReply | number
    if (typeof reply === 'number') throw refusalOf(reply)
    const [replies, woken, raised, trimmed, sent] = reply
    const answers = replies.map((one, n) => answerOf(one, turns[n]!))
    return {
      answers: withNotes(answers, starts),
      trimmed,
      ...(sent && { sent: sentEntriesOf(sent) }),
      ...jobChangesOf([woken, raised]),
    }
  }

  /** Resolves to the ids that were queued. */
  async endDoubts({
    args,
    fresh,
  }: EndedDoubts): Promise<JobChanges & { queued: string[]; sent?: SentEntries[] }> {
    const all: Argument[] = [...args, fresh.length]
    for (const group of fresh) addGroup(all, group)
    const [queued, woken, raised, sent] = (await this.#run(this.#scripts.endDoubts, all)) as [
      string,
      ...JobChangesReply,
      sent?: (string | number)[],
    ]
    const written = sent && { sent: sentEntriesOf(sent) }
    return { queued: idsOf(queued), ...written, ...jobChangesOf([woken, raised]) }
  }

  /** Resolves to the ids that were queued; to `ended` when the crawl has ended, and nothing was done. */
  async retryFailed(groups: readonly RetriedGroup[]): Promise<(JobChanges & { queued: string[] }) | 'ended'> {
    const args: Argument[] = [groups.length]
    for (const { bucket, slot, priority, requests } of groups) {
      args.push(bucket, slot, priority, requests.length)
      for (const { id, key, text } of requests) args.push(`${id}\n${key}`, text)
    }
    const reply = (await this.#run(this.#scripts.failed, args)) as [string[], ...JobChangesReply] | number
    if (typeof reply === 'number') return 'ended'
    const [queued, ...jobChanges] = reply
    return { queued, ...jobChangesOf(jobChanges) }
  }

  /** Resolves to how many pages were queued; to `ended` when the crawl has ended, and nothing was done. */
  async queueDue(part: DuePart): Promise<(JobChanges & { queued: number }) | 'ended'> {
    return queueDue(this.#redis, [this.#keyList, this.#order], part)
  }

  async steer({ bucket, slot, pauseMs, why, delayMs, boost, isBoosted }: SlotSteered): Promise<JobChanges> {
    const args = [bucket, slot, pauseMs ?? '', why ?? '', delayMs ?? '', boost, flag(isBoosted)]
    return jobChangesOf((await this.#run(steerScript, args)) as JobChangesReply)
  }

  async settled(asker: string): Promise<void> {
    await this.#run(settleScript, [asker, this.#times.turns.settledKeptMs])
  }

  /**
   * Notes that these requests start now: if the worker is lost, they are suspects. The exchange that ends one takes its note away.
   *
   * @param names as `startedName` has them: turns that are asked with one message have requests of the same token
   */
  async started(worker: string, names: readonly string[]): Promise<void> {
    const key = this.#startedKey(worker)
    // What comes late from a worker that is gone, when the crawl has been cleared, goes by itself.
    await Promise.all([this.#redis.sadd(key, ...names), this.#redis.pexpire(key, STARTED_KEPT_MS)])
  }

  /** Takes the notes of these away: they lie at the worker, and have not started. */
  async notStarted(worker: string, names: readonly string[]): Promise<void> {
    await this.#redis.srem(this.#startedKey(worker), ...names)
  }

  /** Notes that this worker runs that request alone. */
  async beginAlone(worker: string, id: string): Promise<void> {
    await this.#run(aloneScript, [worker, id])
  }

  async endAlone(worker: string): Promise<void> {
    await this.#redis.hdel(this.#keys.alone, worker)
  }

  /**
   * @param coming takes from this batch on may be under way
   * @param reset Redis has come back older: no slot is this worker's any more. It notes the number of this command, if a turn was renewed and it
   *   knows what it has answered
   */
  async renew<T extends HoldingTurn>(
    turns: readonly T[],
    lockMs: number,
    { coming, reset }: { coming: number; reset?: CommandNumber | undefined },
  ): Promise<Renewed<T>> {
    const args = turns.flatMap((turn) => holdingArgs(turn, coming))
    const numbered = [reset?.worker ?? '', reset?.number ?? 0, reset?.answered ?? 0]
    const reply = (await this.#run(renewScript, [lockMs, ...numbered, ...args])) as [
      number[],
      number[],
      number,
      ...JobChangesReply,
    ]
    const [lost, counts, heard, ...jobChanges] = reply
    const unheld = new Map<T, number>()
    for (let at = 0; at < counts.length; at += 2) unheld.set(turns[counts[at]! - 1]!, counts[at + 1]!)
    const isHeard = heard === 1
    return { lost: lost.map((n) => turns[n - 1]!), unheld, isHeard, ...jobChangesOf(jobChanges) }
  }

  /** Returns the same for the lock keeper, which has the turns' `lockArgs`. */
  renewal(lockMs: number): Renewal {
    return { lua: renewScript.lua, keys: this.#keyList, args: [this.#order, lockMs, '', 0, 0] }
  }

  /**
   * Resolves to the state of the crawl's turns, and to the jobs that BullMQ does not have. `isSwept` is false when another
   * worker has swept lately.
   *
   * @param owedMs jobs that BullMQ lacks for less than that are left alone: somebody may be adding them
   */
  async sweep(
    worker: string,
    everyMs: number,
    owedMs: number,
  ): Promise<Swept & { isSwept: boolean; woken: Wake[] }> {
    const reply = await this.#run(this.#scripts.sweep, [worker, everyMs, owedMs])
    const [isSwept, workers, waiting, requests, woken, unserved] = reply as [
      number,
      number,
      number,
      number,
      string[],
      number,
    ]
    const counts = { workers, waiting, requests, unserved }
    return { isSwept: isSwept === 1, worker, ...counts, woken: wakesOf(woken) }
  }

  /**
   * Gives jobs whose lock has run out to others.
   *
   * @param gapMs when no worker has looked for longer, Redis was away
   * @param backMs for so long after that nothing is given to others, as workers may still be on their way back
   * @returns how long ago it came back, negative when its clock was set back since; and how many jobs were given
   */
  async takeStalled(gapMs: number, backMs: number): Promise<{ backForMs: number; given: number }> {
    const [backForMs, given] = (await this.#run(watchScript, [gapMs, backMs])) as [string, number]
    return { backForMs: Number(backForMs), given }
  }

  async leave(worker: string): Promise<void> {
    await Promise.all([
      this.#redis.zrem(`${this.#keys.frontier}:workers`, worker),
      this.#redis.hdel(`${this.#keys.frontier}:heard`, worker),
      this.#redis.unlink(this.#startedKey(worker)),
    ])
  }

  async counts(): Promise<QueueCounts> {
    const [waiting, delayed, leased, quarantined] = (await this.#run(countsScript, [])) as number[]
    return { waiting: waiting!, delayed: delayed!, leased: leased!, quarantined: quarantined! }
  }

  /** Resolves to what some turns have in flight for that worker, and to where to go on; '0' when those were all. */
  async inFlight(
    worker: string,
    cursor: string,
    count: number,
  ): Promise<{ cursor: string; found: { slot: string; count: number }[] }> {
    const [next, flat] = (await this.#run(inFlightScript, [worker, cursor, count])) as [
      string,
      (string | number)[],
    ]
    const found: { slot: string; count: number }[] = []
    for (let at = 0; at < flat.length; at += 2)
      found.push({ slot: decodeURIComponent(String(flat[at])), count: Number(flat[at + 1]) })
    return { cursor: next, found }
  }

  /** Makes BullMQ able to fetch one job on a Redis at its maxmemory. Resolves to false when there is none. */
  async nudge(): Promise<boolean> {
    return (await this.#run(nudgeScript, [])) === 1
  }

  async clear(): Promise<void> {
    while ((await this.#run(clearScript, [CLEAR_PAGE])) !== 0);
  }

  /** Deletes what is left of the jobs of a crawl in which nothing waits. */
  async tidy(): Promise<void> {
    while ((await this.#run(tidyScript, [CLEAR_PAGE])) !== 0);
  }

  #startedKey(worker: string): string {
    return `${this.#keys.frontier}:started:${worker}`
  }

  #run(script: Script, args: readonly Argument[]): Promise<unknown> {
    return script.run(this.#redis, this.#keyList, [this.#order, ...args])
  }
}

function commandArgs({ worker, number, answered, run }: CommandNumber): Argument[] {
  return [worker, number, answered, run]
}

function refusalOf(reply: number): Error {
  return reply === RUN_OVER ? new RunOver() : new WentBack(reply)
}
