/** The scripts of buckets, `lua/buckets/`, with their arguments and replies as values. */

import {
  type HostNews,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type QueueCounts,
  type QueueOrder,
  type SlotState,
  type SlotView,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { RunOver } from '../crawl/run-over.ts'
import { startGap } from '../crawl/start-gap.ts'
import type { StartSpan } from '../crawl/start-span.ts'
import { idsOf } from '../leasing/doubts.ts'
import { historyKey } from '../leasing/quarantine-history.ts'
import type { Renewal } from '../locks/lock-keeper.ts'
import type { Swept } from '../members/crawl-channel.ts'
import { bucketOf } from '../politeness/bucket-of.ts'
import { BULL_PREFIX, type CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'
import { type Said, WentBack } from './said-numbers.ts'

/** A job that BullMQ must get, or that must become more urgent. */
export interface Wake {
  readonly job: string
  readonly priority: number
}

/** What a script has changed beside its own turns. */
export interface Stirred {
  readonly woken: readonly Wake[]
  readonly raised: readonly Wake[]
}

/** A turn: a lane of a unit. The unit is a bucket, `#17`, or a hot slot by its name. */
export interface TurnName {
  readonly unit: string
  readonly lane: string
}

/** What is known of a slot. Times from now on, in milliseconds; 0: nothing. */
export interface SlotKnown {
  /** Until its delay lets it be asked. */
  readonly waitMs: number
  /** Floor under its delay. */
  readonly floorMs: number
  readonly failures: number
  readonly pausedMs: number
}

/** The state of a unit. */
export interface Standing {
  /** Priority of what goes next; absent when nothing is ready. */
  readonly head?: number
  /** How many slots of a bucket are ready at that priority, or how many requests of a hot slot. */
  readonly ready: number
  /** Milliseconds until something that must wait may go. */
  readonly dueInMs?: number
  /** Of a hot slot. */
  readonly known?: SlotKnown
}

/**
 * Requests for one line. `place`: its end, its head, quarantine, or milliseconds for which they are held back. With `doubt`
 * they are set aside, in no line. With `failed` the text is that of a failure, for the ledger.
 */
export interface Placed {
  readonly place: 'end' | 'head' | 'quarantine' | 'doubt' | 'failed' | number
  readonly bucket: string
  readonly slot: string
  readonly priority: number
  readonly texts: readonly string[]
}

/** A request that was in flight and no longer is. */
export interface Ended {
  readonly token: string
  /** Set when it may have a history, which is deleted or, with `refusal`, gets one more line. */
  readonly id?: string
  readonly refusal?: string
  /** Its slot, where that has become hot since it was taken. */
  readonly hot?: string
  readonly placed: readonly Placed[]
}

/** News of a slot: in how many milliseconds it may be asked (0: at once), what was learned. */
export interface SlotTold {
  readonly slot: string
  readonly waitMs?: number
  readonly news?: HostNews
}

/** A slot that the worker gives back. */
export interface SlotReleased extends SlotTold {
  /** How many lanes it may have as a hot slot; 0: it stays in its bucket, and nothing of it is in flight. */
  readonly lanes: number
  /** How many of a hot slot are in flight then. */
  readonly mixed: number
}

/** What a turn takes next. */
export interface Asked {
  /** Slots of which the worker has requests, and how many more it takes at the most. */
  readonly more: readonly { readonly slot: string; readonly most: number }[]
  /** How many other slots at the most; of a hot slot 0 or 1. */
  readonly slots: number
  /** How many requests of each of these at the most. */
  readonly each: number
  /** Names the take. The same one gets the same requests once more. */
  readonly batch: number
  /** Slots are taken so many milliseconds before they may be asked. */
  readonly aheadMs: number
  /** No more are taken when there are so many bytes. */
  readonly bytes: number
  /** Of a hot slot: how many may be in flight, all lanes together; 0: no bound. */
  readonly concurrency: number
  /** Of a hot slot: its delay by the settings, milliseconds. */
  readonly delayMs: number
  /** Of a hot slot: how many lanes it may have. */
  readonly lanes: number
}

/** True when something is taken, should there be anything. */
export function asksAny({ more, slots }: Pick<Asked, 'more' | 'slots'>): boolean {
  return more.length > 0 || slots > 0
}

/** What a worker tells Redis about one of its turns. */
export interface TurnSays extends TurnName {
  readonly generation: string
  readonly holder: string
  readonly ended: readonly Ended[]
  readonly told: readonly SlotTold[]
  readonly released: readonly SlotReleased[]
  readonly asked: Asked
  readonly leaves: boolean
}

/** `left`: the next worker may have it. `over`: nothing is left to do. `lost`: another worker has had it meanwhile. */
export type TurnAnswer =
  | { readonly status: 'held' | 'left'; readonly standing: Standing; readonly taken: readonly Taken[] }
  | { readonly status: 'over' }
  | { readonly status: 'lost' }

export interface Taken {
  readonly token: string
  readonly slot: string
  readonly priority: number
  readonly text: string
  /** How many wait in the slot's line, about. */
  readonly waiting: number
  /** Priority of the first of them. */
  readonly head?: number
  /** Absent when nothing is known of the slot. */
  readonly known?: SlotKnown
}

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

export interface PushPart {
  readonly said: Said
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

/** A turn as BullMQ has handed it to a worker. */
export interface BegunTurn extends TurnName {
  readonly generation: string
  readonly lockToken: string
  readonly holder: string
  readonly delayMs: number
  /** True when the worker has another of the unit's lanes. */
  readonly isSecond: boolean
  /** Slots of the bucket with a delay longer than `delayMs`, each with its own; after a lost worker they wait for that. */
  readonly ownDelays?: ReadonlyMap<string, number>
}

/** What a renewal of a turn's lock needs. */
export interface LockedTurn {
  readonly job: string
  readonly lockToken: string
  readonly holder: string
}

/** The same for a turn whose worker tells what it holds: all other requests in flight there go back to their lines. */
export interface HoldingTurn extends LockedTurn {
  readonly delayMs: number
  readonly tokens: readonly string[]
  /** The batch of the take that is under way. */
  readonly batch: number | undefined
}

/** The result of a renewal of turns' locks. */
export interface Renewed<T> extends Stirred {
  readonly lost: readonly T[]
  /** The turns whose lines got requests back, and how many. */
  readonly putBack: ReadonlyMap<T, number>
}

const KEYS = ['slots/clock.lua', 'slots/keys.lua'] as const
const BASE = [
  ...KEYS,
  'slots/wake.lua',
  'slots/lines.lua',
  'slots/record.lua',
  'slots/ready.lua',
  'slots/late.lua',
] as const
const TURN = [
  ...BASE,
  'slots/close.lua',
  'leasing/quarantine.lua',
  'buckets/steps/flight.lua',
  'buckets/steps/standing.lua',
] as const
const BACK = ['buckets/steps/blame.lua', 'buckets/steps/back.lua'] as const

const pushScript = luaScript(...BASE, 'leasing/doubts.lua', 'buckets/steps/said.lua', 'buckets/push.lua')
const endDoubtsScript = luaScript(
  ...BASE,
  'leasing/quarantine.lua',
  'leasing/doubts.lua',
  'leasing/doubts-end.lua',
  'buckets/doubts.lua',
)
const failedScript = luaScript(...BASE, 'failures/ledger.lua', 'failures/take.lua', 'buckets/failed.lua')
const beginScript = luaScript(...TURN, ...BACK, 'buckets/begin.lua')
const exchangeScript = luaScript(
  ...TURN,
  'buckets/steps/said.lua',
  'slots/news.lua',
  'buckets/steps/release.lua',
  'buckets/steps/take.lua',
  'leasing/doubts.lua',
  'failures/ledger.lua',
  'buckets/steps/ended.lua',
  'buckets/steps/leave.lua',
  'buckets/exchange.lua',
)
const renewScript = luaScript(
  ...BASE,
  'leasing/quarantine.lua',
  'buckets/steps/flight.lua',
  ...BACK,
  'buckets/renew.lua',
)
const settleScript = luaScript(...KEYS, 'buckets/settle.lua')
const aloneScript = luaScript(...KEYS, 'buckets/alone.lua')
const sweepScript = luaScript(...KEYS, 'buckets/sweep.lua')
const watchScript = luaScript(...KEYS, 'buckets/watch.lua')
const countsScript = luaScript(...KEYS, 'buckets/counts.lua')
const inFlightScript = luaScript(...KEYS, 'buckets/in-flight.lua')
const slotsScript = luaScript(
  ...KEYS,
  'slots/wake.lua',
  'slots/lines.lua',
  'slots/record.lua',
  'buckets/slots.lua',
)
const steerScript = luaScript(...BASE, 'slots/steer.lua')
const nudgeScript = luaScript(...KEYS, 'buckets/nudge.lua')
const clearScript = luaScript(...KEYS, 'slots/wake.lua', 'buckets/steps/drop.lua', 'buckets/clear.lua')
const tidyScript = luaScript(...KEYS, 'slots/wake.lua', 'buckets/steps/drop.lua', 'buckets/tidy.lua')

const CLEAR_PAGE = 100
/** A crawl whose workers were all lost may stand over a long weekend, and its suspects are still known: a week. */
const STARTED_KEPT_MS = 7 * 86_400_000
/** The reply to a push of start() when elements before it are missing. */
const START_GAP = -1
/** The reply to a command of a run that was cleared, or followed by another. */
const RUN_OVER = -2

type Script = ReturnType<typeof luaScript>
type Argument = string | number

export interface BucketScriptsOptions {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly order: QueueOrder
  readonly times?: ProtocolTimes
}

export class BucketScripts {
  readonly #redis: Redis
  readonly #keys: CrawlRedisKeys
  readonly #keyList: readonly string[]
  readonly #order: QueueOrder
  readonly #times: ProtocolTimes

  constructor({ redis, keys, order, times = PROTOCOL_TIMES }: BucketScriptsOptions) {
    this.#redis = redis
    this.#keys = keys
    this.#order = order
    this.#times = times
    this.#keyList = [
      keys.frontier,
      keys.frontierCounts,
      keys.alone,
      keys.quarantine,
      historyKey(keys),
      `${BULL_PREFIX}:${keys.queueName}:`,
      keys.record,
      keys.noted,
    ]
  }

  /** Rejects with `WentBack`, `RunOver`, or WL_LEASE_LOST for elements of start() before which others were lost. */
  async push({ said, asker, isNoting, start, groups }: PushPart): Promise<Stirred & { added: number }> {
    const args: Argument[] = [...saidArgs(said), asker, flag(isNoting)]
    args.push(start?.from ?? '', start?.to ?? '', groups.length)
    for (const group of groups) {
      args.push(group.place)
      addGroup(args, group)
    }
    const reply = (await this.#run(pushScript, args)) as [number, ...StirredReply] | number
    if (reply === START_GAP) throw startGap()
    if (typeof reply === 'number') throw refusalOf(reply)
    const [added, ...stirred] = reply
    return { added, ...stirredOf(stirred) }
  }

  /** Resolves to why it has not begun: `gone`, it is over; `taken`, another worker has it. */
  async begin(
    turn: BegunTurn,
    quarantineAfter: number,
  ): Promise<(Stirred & { standing: Standing; takenBack: number }) | 'gone' | 'taken'> {
    const { unit, lane, generation, holder, delayMs, isSecond, lockToken, ownDelays = [] } = turn
    const { lockMs } = this.#times.turns
    const args = [unit, lane, generation, holder, delayMs, quarantineAfter, flag(isSecond), lockToken, lockMs]
    for (const slotAndDelay of ownDelays) args.push(...slotAndDelay)
    const reply = (await this.#run(beginScript, args)) as
      | ['gone' | 'taken']
      | ['begun', StandingReply, number, ...StirredReply]
    if (reply[0] !== 'begun') return reply[0]
    const [, standing, takenBack, ...stirred] = reply
    return { standing: standingOf(standing), takenBack, ...stirredOf(stirred) }
  }

  /**
   * Sends everything in one step. With `isGrowing` nothing is done on a Redis at its maxmemory; otherwise it is done even
   * there. Rejects with `WentBack` or `RunOver`.
   */
  async exchange(
    turns: readonly TurnSays[],
    isGrowing: boolean,
    said: Said,
  ): Promise<Stirred & { answers: TurnAnswer[]; trimmed: number }> {
    const args: Argument[] = [isGrowing ? 'grows' : '', ...saidArgs(said), turns.length]
    for (const turn of turns) addTurn(args, turn)
    const reply = (await this.#run(exchangeScript, args)) as [TurnReply[], ...StirredReply, number] | number
    if (typeof reply === 'number') throw refusalOf(reply)
    const [replies, woken, raised, trimmed] = reply
    const answers = replies.map((one, n) => answerOf(one, turns[n]!))
    return { answers, trimmed, ...stirredOf([woken, raised]) }
  }

  /** Resolves to the ids that were queued. */
  async endDoubts({ args, fresh }: EndedDoubts): Promise<Stirred & { queued: string[] }> {
    const all: Argument[] = [...args, fresh.length]
    for (const group of fresh) addGroup(all, group)
    const [queued, ...stirred] = (await this.#run(endDoubtsScript, all)) as [string, ...StirredReply]
    return { queued: idsOf(queued), ...stirredOf(stirred) }
  }

  /** Resolves to the ids that were queued; to `ended` when the crawl has ended, and nothing was done. */
  async retryFailed(groups: readonly RetriedGroup[]): Promise<(Stirred & { queued: string[] }) | 'ended'> {
    const args: Argument[] = [groups.length]
    for (const { bucket, slot, priority, requests } of groups) {
      args.push(bucket, slot, priority, requests.length)
      for (const { id, key, text } of requests) args.push(`${id}\n${key}`, text)
    }
    const reply = (await this.#run(failedScript, args)) as [string[], ...StirredReply] | number
    if (typeof reply === 'number') return 'ended'
    const [queued, ...stirred] = reply
    return { queued, ...stirredOf(stirred) }
  }

  async steer({ bucket, slot, pauseMs, why, delayMs, boost, isBoosted }: SlotSteered): Promise<Stirred> {
    const args = [bucket, slot, pauseMs ?? '', why ?? '', delayMs ?? '', boost, flag(isBoosted)]
    return stirredOf((await this.#run(steerScript, args)) as StirredReply)
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

  /** Notes that this worker runs that request alone. */
  async beginAlone(worker: string, id: string): Promise<void> {
    await this.#run(aloneScript, [worker, id])
  }

  async endAlone(worker: string): Promise<void> {
    await this.#redis.hdel(this.#keys.alone, worker)
  }

  /**
   * @param coming takes from this batch on may be under way
   * @param resets Redis has come back older: no slot is this worker's any more
   */
  async renew<T extends HoldingTurn>(
    turns: readonly T[],
    lockMs: number,
    { coming, resets = false }: { coming: number; resets?: boolean },
  ): Promise<Renewed<T>> {
    const args = turns.flatMap((turn) => holdingArgs(turn, coming))
    const reply = (await this.#run(renewScript, [lockMs, flag(resets), ...args])) as [
      number[],
      number[],
      ...StirredReply,
    ]
    const [lost, back, ...stirred] = reply
    const putBack = new Map<T, number>()
    for (let at = 0; at < back.length; at += 2) putBack.set(turns[back[at]! - 1]!, back[at + 1]!)
    return { lost: lost.map((n) => turns[n - 1]!), putBack, ...stirredOf(stirred) }
  }

  /** Returns the same for the lock keeper, which has the turns' `lockArgs`. */
  renewal(lockMs: number): Renewal {
    return { lua: renewScript.lua, keys: this.#keyList, args: [this.#order, lockMs, ''] }
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
    const reply = await this.#run(sweepScript, [worker, everyMs, owedMs])
    const [isSwept, workers, waiting, requests, woken] = reply as [number, number, number, number, string[]]
    return { isSwept: isSwept === 1, worker, workers, waiting, requests, woken: wakesOf(woken) }
  }

  /**
   * Gives jobs whose lock has run out to others.
   *
   * @param gapMs when no worker has looked for longer, Redis was away
   * @param backMs for so long after that nothing is given to others, as workers may still be on their way back
   */
  async takeStalled(gapMs: number, backMs: number): Promise<void> {
    await this.#run(watchScript, [gapMs, backMs])
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

  /**
   * Resolves to how some slots stand: those that are named, and some of the bucket's from the cursor on; and to where to go on, '0'
   * when those were all. A slot may come twice.
   */
  async slots(
    bucket: string,
    cursor: string,
    count: number,
    slots: readonly string[],
  ): Promise<{ cursor: string; slots: SlotView[] }> {
    const named = slots.flatMap((slot) => [bucketOf(slot), slot])
    const reply = await this.#run(slotsScript, [bucket, cursor, count, ...named])
    const [next, views] = reply as [string, SlotReply[]]
    return { cursor: next, slots: views.map(slotViewOf) }
  }

  /** Resolves to slots that are paused, the longest first. */
  async pausedSlots(most: number): Promise<string[]> {
    return this.#redis.zrevrangebyscore(
      `${this.#keys.frontier}:paused`,
      '+inf',
      String(Date.now()),
      'LIMIT',
      0,
      most,
    )
  }

  /** Resolves to buckets with anything to do, and to hot slots. */
  async units(): Promise<string[]> {
    const jobs = await this.#redis.zrange(`${this.#keys.frontier}:due`, '0', '-1')
    return [...new Set(jobs.map((job) => job.replace(/~\d+~\d+$/, '')))]
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

function addGroup(args: Argument[], { bucket, slot, priority, requests }: Pushed): void {
  args.push(bucket, slot, priority, requests.length)
  for (const { id, text } of requests) args.push(id, text)
}

function addTurn(args: Argument[], turn: TurnSays): void {
  const { unit, lane, generation, holder, ended, told, released, asked } = turn
  args.push(unit, lane, generation, holder, ended.length)
  for (const { token, id = '', refusal = '', hot = '', placed } of ended) {
    args.push(token, id, refusal, hot, placed.length)
    for (const { place, bucket, slot, priority, texts } of placed)
      args.push(place, bucket, slot, priority, texts.length, ...texts)
  }
  args.push(told.length)
  for (const one of told) addTold(args, one)
  args.push(released.length)
  for (const one of released) {
    addTold(args, one)
    args.push(one.lanes, one.mixed)
  }
  if (!unit.startsWith('#')) args.push(asked.delayMs, asked.lanes)
  if (turn.leaves) args.push('leave')
  else if (asksAny(asked)) addAsked(args, asked)
  else args.push('')
}

function addAsked(args: Argument[], { more, slots, each, batch, aheadMs, bytes, concurrency }: Asked): void {
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

type KnownReply = [waitMs: number, floorMs: number, failures: number, pausedMs: number]
type StandingReply = [head: string, ready: number, dueInMs: number | '', ...(KnownReply | [])]
type StirredReply = [woken: string[], raised: string[]]
/** As a line has them; see slots/lines.lua. */
const SLOT_STATES = { '': 'none', r: 'ready', l: 'later', w: 'held', h: 'hot' } as const
type SlotReply = [
  slot: string,
  waiting: number,
  delayed: number,
  leased: number,
  nextInMs: number,
  delayMs: number,
  failures: number,
  pausedMs: number,
  why: string,
  state: keyof typeof SLOT_STATES,
  lanes: number,
  holders: string[],
]
/** Of one slot; `texts`: priority and text of each request. */
type TakenReply = [slot: string, waiting: number, head: string, known: KnownReply | '', ...texts: string[]]
type TurnReply =
  | ['over' | 'lost']
  | ['held' | 'left', StandingReply, TakenReply[]]
  | ['over', StandingReply, []]

function answerOf([status, standing, taken]: TurnReply, { asked }: TurnSays): TurnAnswer {
  if (status === 'over' || status === 'lost') return { status }
  return { status, standing: standingOf(standing!), taken: takenOf(taken!, asked.batch) }
}

/** A line tells ready and later as when it was last tried; its record tells which of the two holds now. */
function stateOf(state: keyof typeof SLOT_STATES, waitMs: number): SlotState {
  if (state === 'r' || state === 'l') return waitMs > 0 ? 'later' : 'ready'
  return SLOT_STATES[state]
}

function slotViewOf([
  name,
  waiting,
  delayed,
  leased,
  nextInMs,
  delayMs,
  failures,
  pausedMs,
  why,
  state,
  lanes,
  holders,
]: SlotReply): SlotView {
  const slot = decodeURIComponent(name)
  const pace = { slot, waiting, delayed, leased, nextInMs, delayMs, failures, pausedMs }
  const view = { ...pace, state: stateOf(state, nextInMs + pausedMs), lanes, holders }
  return why === '' ? view : { ...view, pauseReason: why }
}

/** The n-th request of a take has the token `<batch>.<n>`. */
function takenOf(replies: readonly TakenReply[], batch: number): Taken[] {
  const taken: Taken[] = []
  for (const [slot, waiting, head, known, ...texts] of replies) {
    const ofSlot = {
      slot,
      waiting,
      ...(head !== '' && { head: Number(head) }),
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

function knownOf([waitMs, floorMs, failures, pausedMs]: KnownReply): SlotKnown {
  return { waitMs, floorMs, failures, pausedMs }
}

function standingOf([head, ready, dueInMs, ...known]: StandingReply): Standing {
  return {
    ...(head !== '' && { head: Number(head) }),
    ready,
    ...(dueInMs !== '' && { dueInMs }),
    ...(known.length > 0 && { known: knownOf(known as KnownReply) }),
  }
}

function stirredOf([woken, raised]: StirredReply): Stirred {
  return { woken: wakesOf(woken), raised: wakesOf(raised) }
}

function wakesOf(flat: readonly string[]): Wake[] {
  const wakes: Wake[] = []
  for (let at = 0; at < flat.length; at += 2) wakes.push({ job: flat[at]!, priority: Number(flat[at + 1]) })
  return wakes
}

/** For the lock keeper: it learns late what has ended, so nothing is compared. */
export function lockArgs({ job, lockToken, holder }: LockedTurn): (string | number)[] {
  return [job, lockToken, holder, 0, 0, 0]
}

function holdingArgs(
  { job, lockToken, holder, delayMs, batch, tokens }: HoldingTurn,
  coming: number,
): Argument[] {
  return [job, lockToken, holder, delayMs, batch ?? coming, tokens.length, ...tokens]
}

function saidArgs({ worker, number, answered, run }: Said): Argument[] {
  return [worker, number, answered, run]
}

function wholeMs(ms: number | undefined): number | '' {
  return ms === undefined ? '' : Math.ceil(ms)
}

function refusalOf(reply: number): Error {
  return reply === RUN_OVER ? new RunOver() : new WentBack(reply)
}

function flag(is: boolean): '1' | '' {
  return is ? '1' : ''
}
