/** The scripts of host turns, `lua/turns/`, with their arguments and replies as values. */

import {
  type HostNews,
  type HostState,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type QueueCounts,
  type QueueOrder,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { RunOver } from '../crawl/run-over.ts'
import { startGap } from '../crawl/start-gap.ts'
import type { StartSpan } from '../crawl/start-span.ts'
import { idsOf } from '../leasing/doubts.ts'
import { historyKey } from '../leasing/quarantine.ts'
import type { Renewal } from '../locks/lock-keeper.ts'
import type { Swept } from '../members/crawl-channel.ts'
import type { HostView } from '../outside/crawl-view.ts'
import { BULL_PREFIX, type CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'
import { type Said, WentBack } from './said-numbers.ts'

/** A turn whose job BullMQ must get, or whose job must become more urgent. */
export interface Wake {
  readonly unit: string
  readonly priority: number
}

/** What a script has changed beside its own turn. */
export interface Stirred {
  readonly woken: readonly Wake[]
  readonly raised: readonly Wake[]
}

/** The name of a turn: the host is percent-encoded, so that it can be part of a job's id. */
export interface TurnName {
  readonly host: string
  readonly lane: string
}

/** The state of a host. */
export interface Standing {
  /** Milliseconds until its delay lets it be asked. */
  readonly waitMs: number
  /** Milliseconds until its pause is over. */
  readonly pausedMs: number
  /** Priority of the head of its line; absent when no request waits. */
  readonly head?: number
  /** Milliseconds until the first request may go whose own time has not come. */
  readonly lateInMs?: number
  /** What was learned of it. */
  readonly state: HostState
}

/**
 * Requests for one line. `place`: its end, its head, quarantine, or milliseconds for which they are held back. With `doubt`
 * they are set aside, in no line.
 */
export interface Placed {
  readonly place: 'end' | 'head' | 'quarantine' | 'doubt' | number
  readonly host: string
  readonly priority: number
  /** How many lanes the host may have. */
  readonly lanes: number
  readonly texts: readonly string[]
}

/** A request that was in flight and no longer is. */
export interface Ended {
  readonly token: string
  /** Set when it may have a history, which is deleted or, with `refusal`, gets one more line. */
  readonly id?: string
  readonly refusal?: string
  readonly placed: readonly Placed[]
}

/** What a worker tells Redis about one of its turns. */
export interface TurnSays extends TurnName {
  readonly generation: string
  readonly holder: string
  /** Milliseconds since the last start that Redis has not been told. */
  readonly startedAgoMs?: number
  /** The host's delay that settings and chance give, without the floor. */
  readonly drawnMs: number
  /** True when the last request that was taken never started: it uses up no turn. */
  readonly isUndone: boolean
  readonly news?: HostNews
  readonly ended: readonly Ended[]
  readonly most: number
  readonly batch: number
  readonly aheadMs: number
  readonly concurrency: number
  readonly leaves: boolean
}

/** `left`: the next worker may have it. `over`: nothing is left to do. `lost`: another worker has had it meanwhile. */
export type TurnAnswer =
  | { readonly status: 'held' | 'left'; readonly standing: Standing; readonly taken: readonly Taken[] }
  | { readonly status: 'over' }
  | { readonly status: 'lost' }

export interface Taken {
  readonly token: string
  readonly priority: number
  readonly text: string
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

export interface PushPart {
  readonly said: Said
  readonly asker: string
  readonly isNoting: boolean
  /** Set for elements of start(), whose numbers take the place of ids. */
  readonly start?: StartSpan
  readonly groups: readonly Pushed[]
}

const BASE = [
  'hosts/host.lua',
  'hosts/wake.lua',
  'hosts/open.lua',
  'hosts/lanes.lua',
  'hosts/lines.lua',
] as const
const TAKE = [
  ...BASE,
  'hosts/close.lua',
  'hosts/late.lua',
  'leasing/quarantine.lua',
  'hosts/pace.lua',
  'hosts/room.lua',
  'hosts/standing.lua',
] as const

const pushScript = luaScript(...BASE, 'leasing/doubts.lua', 'turns/steps/said.lua', 'turns/push.lua')
const endDoubtsScript = luaScript(
  ...BASE,
  'leasing/quarantine.lua',
  'leasing/doubts.lua',
  'leasing/doubts-end.lua',
  'turns/doubts.lua',
)
const beginScript = luaScript(
  ...TAKE,
  'turns/steps/blame.lua',
  'turns/steps/flight.lua',
  'turns/steps/back.lua',
  'turns/begin.lua',
)
const exchangeScript = luaScript(
  ...TAKE,
  'turns/steps/said.lua',
  'hosts/news.lua',
  'turns/steps/learn.lua',
  'turns/steps/take.lua',
  'leasing/doubts.lua',
  'turns/steps/ended.lua',
  'turns/steps/leave.lua',
  'turns/exchange.lua',
)
const settleScript = luaScript('hosts/host.lua', 'turns/settle.lua')
const aloneScript = luaScript('hosts/host.lua', 'turns/alone.lua')
const renewScript = luaScript(
  ...BASE,
  'leasing/quarantine.lua',
  'turns/steps/blame.lua',
  'turns/steps/flight.lua',
  'turns/renew.lua',
)
const sweepScript = luaScript('hosts/host.lua', 'turns/sweep.lua')
const watchScript = luaScript('hosts/host.lua', 'turns/watch.lua')
const countsScript = luaScript('hosts/host.lua', 'turns/counts.lua')
const inFlightScript = luaScript('hosts/host.lua', 'turns/in-flight.lua')
const hostsScript = luaScript('hosts/host.lua', 'turns/hosts.lua')
const nudgeScript = luaScript('hosts/host.lua', 'turns/nudge.lua')
const clearScript = luaScript(...BASE, 'hosts/close.lua', 'turns/clear.lua')

const CLEAR_PAGE = 100
/** The reply to a push of start() when elements before it are missing. */
const START_GAP = -1
/** The reply to a command of a run that was cleared, or followed by another. */
const RUN_OVER = -2

/** A turn as BullMQ has handed it to a worker. */
interface BegunTurn extends TurnName {
  readonly generation: string
  readonly lockToken: string
  readonly holder: string
  readonly delayMs: number
  /** True when the worker has another of the host's lanes. */
  readonly isSecond: boolean
}

/** What a renewal of a turn's lock needs. */
export interface LockedTurn {
  readonly unit: string
  readonly lockToken: string
  readonly holder: string
}

/** The same for a turn whose worker tells what it holds: all other requests in flight there go back to their line. */
export interface HoldingTurn extends LockedTurn {
  readonly tokens: readonly string[]
  /** The batch of the take that is under way. */
  readonly batch: number | undefined
}

/** The result of a renewal of turns' locks. */
export interface Renewed<T> extends Stirred {
  readonly lost: readonly T[]
  /** The turns whose line got requests back, and how many. */
  readonly putBack: ReadonlyMap<T, number>
}

type Script = ReturnType<typeof luaScript>
type Argument = string | number

export class TurnScripts {
  readonly #redis: Redis
  readonly #keys: CrawlRedisKeys
  readonly #keyList: readonly string[]
  readonly #order: QueueOrder
  readonly #times: ProtocolTimes

  constructor({
    redis,
    keys,
    order,
    times = PROTOCOL_TIMES,
  }: {
    redis: Redis
    keys: CrawlRedisKeys
    order: QueueOrder
    times?: ProtocolTimes
  }) {
    this.#redis = redis
    this.#keys = keys
    this.#order = order
    this.#times = times
    this.#keyList = [
      keys.turns,
      keys.turnCounts,
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

  /** Resolves to undefined for a turn that is over. */
  async begin(
    turn: BegunTurn,
    quarantineAfter: number,
  ): Promise<(Stirred & { standing: Standing; takenBack: number }) | 'gone' | 'taken'> {
    const { host, lane, generation, holder, delayMs, isSecond, lockToken } = turn
    const { lockMs } = this.#times.turns
    const args = [host, lane, generation, holder, delayMs, quarantineAfter, flag(isSecond), lockToken, lockMs]
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
  ): Promise<Stirred & { answers: TurnAnswer[] }> {
    const args: Argument[] = [isGrowing ? 'grows' : '', ...saidArgs(said), turns.length]
    for (const turn of turns) addTurn(args, turn)
    const reply = (await this.#run(exchangeScript, args)) as [TurnReply[], ...StirredReply] | number
    if (typeof reply === 'number') throw refusalOf(reply)
    const [replies, ...stirred] = reply
    return { answers: replies.map((reply, n) => answerOf(reply, turns[n]!.batch)), ...stirredOf(stirred) }
  }

  /** Resolves to the ids that were queued. */
  async endDoubts({ args, fresh }: EndedDoubts): Promise<Stirred & { queued: string[] }> {
    const all: Argument[] = [...args, fresh.length]
    for (const group of fresh) addGroup(all, group)
    const [queued, ...stirred] = (await this.#run(endDoubtsScript, all)) as [string, ...StirredReply]
    return { queued: idsOf(queued), ...stirredOf(stirred) }
  }

  async settled(asker: string): Promise<void> {
    await this.#run(settleScript, [asker, this.#times.turns.settledKeptMs])
  }

  /** Notes that this worker runs that request alone. */
  async beginAlone(worker: string, id: string): Promise<void> {
    await this.#run(aloneScript, [worker, id])
  }

  async endAlone(worker: string): Promise<void> {
    await this.#redis.hdel(this.#keys.alone, worker)
  }

  /** @param coming takes from this batch on may be under way */
  async renew<T extends HoldingTurn>(
    turns: readonly T[],
    lockMs: number,
    coming: number,
  ): Promise<Renewed<T>> {
    const args = turns.flatMap((turn) => holdingArgs(turn, coming))
    const reply = (await this.#run(renewScript, [lockMs, ...args])) as [number[], number[], ...StirredReply]
    const [lost, back, ...stirred] = reply
    const putBack = new Map<T, number>()
    for (let at = 0; at < back.length; at += 2) putBack.set(turns[back[at]! - 1]!, back[at + 1]!)
    return { lost: lost.map((n) => turns[n - 1]!), putBack, ...stirredOf(stirred) }
  }

  /** Returns the same for the lock keeper, which has the turns' `lockArgs`. */
  renewal(lockMs: number): Renewal {
    return { lua: renewScript.lua, keys: this.#keyList, args: [this.#order, lockMs] }
  }

  /**
   * Resolves to the state of the crawl's turns, and to those that BullMQ does not have. `isSwept` is false when another
   * worker has swept lately.
   */
  async sweep(worker: string, everyMs: number): Promise<Swept & { isSwept: boolean; woken: Wake[] }> {
    const reply = await this.#run(sweepScript, [worker, everyMs])
    const [isSwept, workers, waiting, requests, woken] = reply as [number, number, number, number, string[]]
    return { isSwept: isSwept === 1, worker, workers, waiting, requests, woken: wakesOf(woken) }
  }

  /** Says that a worker looks for locks that have run out. Those that ran out before a gap of that length do not count. */
  async watch(gapMs: number): Promise<void> {
    await this.#run(watchScript, [gapMs, ''])
  }

  /** Gives turns whose lock has run out to others. */
  async takeStalled(gapMs: number): Promise<void> {
    await this.#run(watchScript, [gapMs, '1'])
  }

  async leave(worker: string): Promise<void> {
    await Promise.all([
      this.#redis.zrem(`${this.#keys.turns}:workers`, worker),
      this.#redis.hdel(`${this.#keys.turns}:heard`, worker),
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

  /** Resolves to some of the hosts that have a line, and to where to go on; '0' when those were all. A host may come twice. */
  async hosts(cursor: string, count: number): Promise<{ cursor: string; hosts: HostView[] }> {
    const [next, views] = (await this.#run(hostsScript, [cursor, count])) as [string, HostReply[]]
    return { cursor: next, hosts: views.map(hostViewOf) }
  }

  /** Makes BullMQ able to fetch one job on a Redis at its maxmemory. Resolves to false when there is none. */
  async nudge(): Promise<boolean> {
    return (await this.#run(nudgeScript, [])) === 1
  }

  async clear(): Promise<void> {
    while ((await this.#run(clearScript, [CLEAR_PAGE])) !== 0);
  }

  #run(script: Script, args: readonly Argument[]): Promise<unknown> {
    return script.run(this.#redis, this.#keyList, [this.#order, ...args])
  }
}

function addGroup(args: Argument[], { host, priority, lanes, requests }: Pushed): void {
  args.push(host, priority, lanes, requests.length)
  for (const { id, text } of requests) args.push(id, text)
}

function addTurn(args: Argument[], turn: TurnSays): void {
  const { host, lane, generation, holder, startedAgoMs = '', drawnMs, isUndone, news, ended } = turn
  args.push(host, lane, generation, holder, startedAgoMs, drawnMs, flag(isUndone), flag(news !== undefined))
  if (news) {
    const { delayMs, failures = '', pauseMs, pauseReason = '' } = news
    args.push(wholeMs(delayMs), failures, wholeMs(pauseMs), pauseReason)
  }
  args.push(ended.length)
  for (const { token, id = '', refusal = '', placed } of ended) {
    args.push(token, id, refusal, placed.length)
    for (const { place, host, priority, lanes, texts } of placed) {
      args.push(place, host, priority, lanes, texts.length, ...texts)
    }
  }
  args.push(turn.most, turn.batch, turn.aheadMs, turn.concurrency, flag(turn.leaves))
}

type StandingReply = [
  waitMs: number,
  head: string,
  lateInMs: number | '',
  pausedMs: number,
  floorMs: number,
  failures: number,
]
type StirredReply = [woken: string[], raised: string[]]
type HostReply = [
  host: string,
  waiting: number,
  delayed: number,
  leased: number,
  nextInMs: number,
  delayMs: number,
  failures: number,
  pausedMs: number,
  why: string,
]
type TurnReply = ['over' | 'lost'] | ['held' | 'left', StandingReply, string[]] | ['over', StandingReply, []]

function hostViewOf([
  host,
  waiting,
  delayed,
  leased,
  nextInMs,
  delayMs,
  failures,
  pausedMs,
  why,
]: HostReply): HostView {
  const slot = decodeURIComponent(host)
  const state = { slot, waiting, delayed, leased, nextInMs, delayMs, failures, pausedMs }
  return why === '' ? state : { ...state, pauseReason: why }
}

function answerOf(reply: TurnReply, batch: number): TurnAnswer {
  const [status, standing, texts] = reply
  if (status === 'over' || status === 'lost') return { status }
  const taken = texts!.map((text, n) => {
    const line = text.indexOf('\n')
    return { token: `${batch}.${n + 1}`, priority: Number(text.slice(0, line)), text: text.slice(line + 1) }
  })
  return { status, standing: standingOf(standing!), taken }
}

function standingOf([waitMs, head, lateInMs, pausedMs, delayMs, failures]: StandingReply): Standing {
  return {
    waitMs,
    pausedMs,
    ...(head !== '' && { head: Number(head) }),
    ...(lateInMs !== '' && { lateInMs }),
    state: { delayMs, failures },
  }
}

function stirredOf([woken, raised]: StirredReply): Stirred {
  return { woken: wakesOf(woken), raised: wakesOf(raised) }
}

function wakesOf(flat: readonly string[]): Wake[] {
  const wakes: Wake[] = []
  for (let at = 0; at < flat.length; at += 2) wakes.push({ unit: flat[at]!, priority: Number(flat[at + 1]) })
  return wakes
}

/** For the lock keeper: it learns late what has ended, so nothing is compared. */
export function lockArgs({ unit, lockToken, holder }: LockedTurn): (string | number)[] {
  return [unit, lockToken, holder, 0, 0]
}

function holdingArgs({ unit, lockToken, holder, batch, tokens }: HoldingTurn, coming: number): Argument[] {
  return [unit, lockToken, holder, batch ?? coming, tokens.length, ...tokens]
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
