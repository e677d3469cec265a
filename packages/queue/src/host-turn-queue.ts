/**
 * The request queue of a cluster: hosts take turns, and a BullMQ job is a turn.
 *
 * Requests wait packed in Redis, in lines, one a host and priority (`lua/turn-lines.lua`). BullMQ knows none of them. It has
 * one job for each host with anything to do, its *turn*: the job's lock is the lease of all that the turn has taken, its
 * priority that of the host's most urgent request, BullMQ's delayed set the order in which hosts may be asked again, its
 * stalled check the take-over from a lost worker. A big host without a delay has several turns, its *lanes*, so that
 * several workers share it; a host with a delay has one, and so one worker that knows when the last request started.
 *
 *     a lane  idle ── a request comes ──► owed ── its job is added ──► waits in BullMQ ◄──── left ────┐
 *               ▲      (generation + 1)     │ job lost: added again        │ fetched, begun           │
 *               │                           ◄── by the sweep               ▼                          │
 *               └──── nothing is left: closed by the script that finds it ── held: owner, in flight ──┘
 *
 * A worker has turns (`HeldTurns`), many more than it downloads at once, as most of them wait for their host's next slot:
 *
 *     TurnIntake     fetches and begins turns while somebody waits for requests
 *     TurnExchange   says what has ended and takes what comes next, for all turns with one script at a time
 *     TurnDesk       hands out what was taken; suspects alone
 *     TurnCare       renews locks, gives up turns that others should have, finds turns whose job is missing
 *
 * A turn is left, that is, given back to BullMQ, when it holds nothing and its host must wait for longer than it pays to
 * keep it (two seconds), or when other hosts or workers should have the place.
 *
 * This only works if whatever moves requests is one script, and each script finds out for itself whether the turn is still
 * its caller's: a worker may stand still for a minute and go on. So each lane notes its owner, a take has a token under
 * which it can be asked for again, and what was taken back from a lost owner is noted as lost. Every script may be sent
 * twice; `docs/decisions/host-turns.md` lists where a worker can die, and what happens then.
 *
 * Whether a host may be asked is told by Redis's clock where turns change hands, and within a turn by the worker's
 * monotonic clock from the true start of the last request. BullMQ's times only decide when somebody looks.
 *
 * Not chosen: one job a request (`BullJobQueue`, its small sibling), as a job can be told only when it is leased that its
 * host must wait; BullMQ's own worker loop, which takes as many turns as it may, not as it needs.
 */

import {
  type CommitOptions,
  type Crawler,
  type HostPace,
  type Lease,
  type Logger,
  type QueueCounts,
  type QueuedRequest,
  type QueueOrder,
  type Request,
  type RequestQueue,
  silentLogger,
  WebloomError,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from './crawl-redis-keys.ts'
import { HeldTurns } from './held-turns.ts'
import { paceFrom, slotOf, slotPaces } from './host-pace.ts'
import type { HostTurn } from './host-turn.ts'
import { remarked, unpackRequest } from './packed-request.ts'
import { nobodyCanDo } from './refusals.ts'
import { TurnCare } from './turn-care.ts'
import { TurnDesk } from './turn-desk.ts'
import { fullError, LINGER_MS, lostError, REQUESTS_A_SCRIPT, TurnExchange } from './turn-exchange.ts'
import { TurnIntake } from './turn-intake.ts'
import { TurnJobs } from './turn-jobs.ts'
import { TurnLease } from './turn-lease.ts'
import { TurnPlacing } from './turn-placing.ts'
import {
  type Placed,
  type Standing,
  type Stirred,
  type Taken,
  type TurnAnswer,
  type TurnSays,
  TurnScripts,
} from './turn-scripts.ts'
import { within } from './within.ts'

export interface HostTurnQueueOptions {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly workerId: string
  readonly order?: QueueOrder
  readonly slotOf?: (request: Request) => string
  readonly pace: (slot: string) => HostPace
  /** QUARANTINE_AFTER. */
  readonly quarantineAfter?: number
  /** CONCURRENT_REQUESTS; 0: no bound. */
  readonly concurrency?: number
  readonly logger?: Logger
  /** For tests: called at each named point, where a worker may be killed. */
  readonly onPoint?: (name: TurnPoint) => void
}

/** What a worker has just done. */
export type TurnPoint =
  | 'fetched'
  | 'begun'
  | 'taken'
  | 'pushed'
  | 'committed'
  | 'woken'
  | 'left'
  | 'completed'

/** A turn whose host is full with other lanes' requests tries again after this. */
const FULL_RETRY_MS = 500
/** What a worker could not do is handed out again after this. */
const REFUSED_MS = 5000
const CLOSE_MS_MAX = 3000
/** Turns a worker may have. */
const TURNS_MIN = 256
const TURNS_MAX = 2048

/** What comes of a lease that ends. */
interface Outcome {
  readonly placed: readonly Placed[]
  readonly refusal?: string
  readonly floorMs?: number
  /** How many requests are added. */
  readonly adds?: number
  readonly keepsHistory?: boolean
}

export class HostTurnQueue implements RequestQueue {
  readonly #options: HostTurnQueueOptions
  readonly #order: QueueOrder
  readonly #logger: Logger
  readonly #concurrency: number
  readonly #turnsMax: number
  readonly #scripts: TurnScripts
  readonly #jobs: TurnJobs
  readonly #placing: TurnPlacing
  readonly #turns = new HeldTurns()
  readonly #desk: TurnDesk
  readonly #intake: TurnIntake
  readonly #exchange: TurnExchange
  readonly #care: TurnCare
  /** What is being said to BullMQ. */
  readonly #saying = new Set<Promise<void>>()
  #alarm: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: HostTurnQueueOptions) {
    const { redis, keys, workerId, order = 'priority', concurrency = 16, logger = silentLogger } = options
    this.#options = options
    this.#order = order
    this.#logger = logger
    this.#concurrency = concurrency > 0 ? concurrency : TURNS_MIN
    this.#turnsMax = Math.min(TURNS_MAX, Math.max(TURNS_MIN, 8 * this.#concurrency))
    const scripts = new TurnScripts({ redis, keys, order })
    const turns = this.#turns
    const common = { scripts, turns, workerId, logger }
    this.#scripts = scripts
    this.#jobs = new TurnJobs({ redis, queueName: keys.queueName, workerId, logger })
    this.#placing = new TurnPlacing({ order, slotOf: options.slotOf ?? slotOf, pace: options.pace })
    this.#desk = new TurnDesk({
      turns,
      beginAlone: (id) => scripts.beginAlone(workerId, id),
      endAlone: () => scripts.endAlone(workerId),
      onDemand: () => this.#serve(),
      onStart: (lease) => this.#onStart(lease),
      onUnreadable: (turn, taken, why) => this.#refuseUnreadable(turn, taken, why),
    })
    this.#intake = new TurnIntake({
      ...common,
      jobs: this.#jobs,
      pace: options.pace,
      quarantineAfter: options.quarantineAfter ?? 3,
      wants: (beginning) => this.#wantsTurns(beginning),
      onBegun: (turn, stirred) => this.#onBegun(turn, stirred),
      onDrained: () => this.#serve(),
      onPoint: (name) => this.#point(name),
    })
    this.#exchange = new TurnExchange({
      ...common,
      demand: () => (this.#isClosed ? 0 : this.#desk.demand),
      stockRoom: () => (this.#isClosed ? 0 : this.#desk.stockRoom),
      isLooking: () => this.#intake.isLooking,
      onAnswer: (turn, says, answer) => this.#onAnswer(turn, says, answer),
      onStirred: (stirred) => this.#stir(stirred),
      onIdle: () => this.#arm(),
    })
    this.#care = new TurnCare({
      ...common,
      exchange: this.#exchange,
      turnsMax: this.#turnsMax,
      demand: () => this.#desk.demand,
      onDoubt: (turn) => this.#desk.layAside(turn),
      onRenewed: (turn) => this.#desk.putBack(turn),
      onLost: (turn) => this.#lose(turn, `its lock on ${turn.slot} ran out`),
      onSwept: (workers, owed) => {
        this.#placing.workers = workers
        this.#stir({ woken: owed, raised: [] })
      },
      onTended: () => this.#serve(),
    })
  }

  static fromCrawler(
    { settings, logger }: Crawler,
    connected: Pick<HostTurnQueueOptions, 'redis' | 'keys' | 'workerId'>,
  ): HostTurnQueue {
    const [pace, slots] = [paceFrom(settings), slotPaces(settings)]
    return new HostTurnQueue({
      ...connected,
      order: settings.get('SCHEDULER_QUEUE_CLASS'),
      pace: (slot) => ({ ...pace, ...slots[slot] }),
      quarantineAfter: settings.getInt('QUARANTINE_AFTER'),
      concurrency: settings.getInt('CONCURRENT_REQUESTS'),
      logger,
    })
  }

  async open(): Promise<void> {
    await this.#jobs.open()
    await this.#care.open()
    this.#intake.open()
  }

  /** Within some seconds, whatever the server does: what cannot be given back in time is taken over later. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#care.close()
    clearTimeout(this.#alarm)
    this.#desk.close()
    this.#intake.stop()
    try {
      await within(CLOSE_MS_MAX, 'giving turns back', this.#giveAllBack())
    } catch (error) {
      this.#logger.warn(
        { err: error },
        'turns are not given back; other workers take them over in some seconds',
      )
    }
    for (const turn of this.#turns) this.#lose(turn, 'the queue was closed')
    await this.#jobs.close()
  }

  clear(): Promise<void> {
    return this.#scripts.clear()
  }

  describe(): { readonly name: string; readonly order: QueueOrder } {
    return { name: 'turns', order: this.#order }
  }

  async push(batch: readonly QueuedRequest[], owner: string): Promise<number> {
    const startIndex = /^start\/(\d+)$/.exec(owner)?.[1]
    let added = 0
    for (let from = 0; from === 0 || from < batch.length; from += REQUESTS_A_SCRIPT) {
      const groups = this.#placing.pushed(batch.slice(from, from + REQUESTS_A_SCRIPT))
      const done = await explained(
        this.#scripts.push({
          owner,
          ...(startIndex !== undefined && { startIndex: Number(startIndex) }),
          // What goes in with one script needs no other note than the cursor.
          isNoting: startIndex === undefined || batch.length > REQUESTS_A_SCRIPT,
          isLast: from + REQUESTS_A_SCRIPT >= batch.length,
          groups,
        }),
      )
      this.#point('pushed')
      added += done.added
      this.#stir(done)
      for (const group of groups) this.#arrived(group)
    }
    this.#serve()
    return added
  }

  async settled(owner: string): Promise<void> {
    await this.#scripts.settled(owner)
  }

  lease(max: number, signal?: AbortSignal): Promise<Lease[]> {
    return this.#desk.take(max, signal, () => this.#nothingCanCome())
  }

  async commit(lease: Lease, { children = [], host }: CommitOptions = {}): Promise<void> {
    const own = this.#ownOf(lease)
    const owner = `${own.id}/commit`
    // More than one script takes go in before, noted under an owner of their own: the page that runs again adds nothing.
    const before = Math.max(0, children.length - REQUESTS_A_SCRIPT)
    if (before > 0) await this.push(children.slice(0, before), owner)
    const placed = this.#placing.groups(children.slice(before))
    await this.#end(own, {
      placed,
      adds: children.length - before,
      ...(host?.delayMs !== undefined && { floorMs: host.delayMs }),
    })
    if (before > 0) await this.settled(owner)
  }

  async retry(lease: Lease, request: Request, delayMs: number): Promise<void> {
    const own = this.#ownOf(lease)
    await this.#end(own, {
      placed: [this.#placing.one({ id: own.id, request }, { attempt: own.attempt }, delayMs)],
    })
  }

  async release(lease: Lease): Promise<void> {
    const own = this.#ownOf(lease)
    await this.#end(own, { placed: [this.#asItWas(own)], keepsHistory: true })
  }

  async refuse(lease: Lease, reason: string): Promise<void> {
    const own = this.#ownOf(lease)
    await this.#end(own, {
      placed: [await this.#refused(own, own.id, own.marks.refusals + 1)],
      refusal: reason,
    })
  }

  counts(): Promise<QueueCounts> {
    return this.#scripts.counts()
  }

  async #nothingCanCome(): Promise<boolean> {
    const { waiting, delayed, leased } = await this.counts()
    return waiting + delayed + leased === 0
  }

  #ownOf(lease: Lease): TurnLease {
    if (lease instanceof TurnLease && lease.state === 'out') return lease
    throw lease.signal.aborted ? lease.signal.reason : lostError('it has ended before', lease.request)
  }

  #asItWas({ turn, priority, text }: Pick<TurnLease, 'turn' | 'priority' | 'text'>): Placed {
    return { place: 'head', host: turn.job.host, priority, lanes: 1, texts: [text] }
  }

  async #refused(
    one: Pick<TurnLease, 'turn' | 'priority' | 'text'>,
    id: string,
    refusals: number,
  ): Promise<Placed> {
    const place = (await nobodyCanDo({ ...this.#options, id, refusals })) ? 'quarantine' : REFUSED_MS
    return { ...this.#asItWas(one), place, texts: [remarked(one.text, { refusals })] }
  }

  #end(lease: TurnLease, { placed, refusal, floorMs, adds = 0, keepsHistory }: Outcome): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const { turn, token, id } = lease
    const isNoted = refusal !== undefined || (lease.hasHistory && !keepsHistory)
    lease.state = 'ending'
    this.#exchange.end({
      turn,
      ended: { token, placed, ...(isNoted && { id }), ...(refusal !== undefined && { refusal }) },
      lease,
      adds,
      ...(floorMs !== undefined && { floorMs }),
      resolve: () => {
        this.#desk.ended(lease)
        this.#point('committed')
        for (const one of placed) if (one.place === 'end' || one.place === 'head') this.#arrived(one)
        resolve()
      },
      reject: (error) => {
        if (lease.state === 'ending') lease.state = 'out'
        reject(error)
      },
    })
    return promise
  }

  #serve(): void {
    if (this.#isClosed) return
    this.#desk.putDueSpares()
    this.#intake.wake()
    this.#exchange.kick()
  }

  #wantsTurns(beginning: number): boolean {
    if (this.#isClosed || this.#desk.demand === 0) return false
    const { size, readyCount } = this.#turns
    return size + beginning < this.#turnsMax && readyCount + beginning < this.#concurrency
  }

  #onBegun(turn: HostTurn, stirred: Stirred): void {
    this.#stir(stirred)
    this.#turns.add(turn)
    if (this.#isClosed) this.#exchange.leave(turn)
    this.#maybeLeave(turn)
    this.#serve()
  }

  #onAnswer(turn: HostTurn, says: TurnSays, answer: TurnAnswer): void {
    if (answer.status === 'lost') this.#lose(turn, `another worker has taken over ${turn.slot}`)
    else if (answer.status === 'over') this.#gone(turn, this.#jobs.complete(turn.job))
    else if (answer.status === 'left') this.#gone(turn, this.#giveBack(turn, answer.standing))
    else this.#goesOn(turn, says, answer)
  }

  #goesOn(
    turn: HostTurn,
    { most }: TurnSays,
    { standing, taken }: { standing: Standing; taken: readonly Taken[] },
  ): void {
    const nowMs = performance.now()
    const goesAtMs = taken.length > 0 ? turn.slotTaken(nowMs) : 0
    turn.heard(standing, nowMs)
    if (most > 0) {
      turn.batch++
      turn.taken += taken.length
      this.#point('taken')
      this.#desk.accept(turn, taken, goesAtMs)
      if (taken.length === 0 && turn.isPaced) turn.heldBack(standing.waitMs, nowMs)
      if (taken.length < most && !turn.isPaced && standing.head !== undefined) turn.isFull = true
    }
    this.#turns.place(turn)
    this.#maybeLeave(turn)
  }

  /** This worker has the turn no longer; BullMQ is being told. */
  #gone(turn: HostTurn, saying: Promise<void>): void {
    this.#point('left')
    for (const lease of turn.held.values()) this.#desk.lose(lease, 'its turn is over')
    this.#turns.remove(turn)
    this.#say(saying.then(() => this.#point('completed')))
    if (this.#turns.size === 0) this.#desk.recheck()
  }

  #giveBack(turn: HostTurn, { waitMs, head, lateInMs = 0 }: Standing): Promise<void> {
    const untilMs = Math.max(waitMs, head === undefined ? lateInMs : 0, turn.isFull ? FULL_RETRY_MS : 0)
    return this.#jobs.giveBack(turn.job, untilMs, head ?? 0)
  }

  #onStart(lease: TurnLease): void {
    const { turn } = lease
    if (turn.isLocked) {
      turn.started(performance.now())
      this.#turns.place(turn)
      this.#arm()
      this.#serve()
    } else {
      // Another worker may have its host by now. If not, the request goes back.
      this.#desk.lose(lease, `the lock of ${turn.slot} was not renewed in time`)
      this.#putBack(turn, lease.token, [this.#asItWas(lease)])
    }
  }

  /** Some other release's: it goes back, and after enough tries to quarantine. */
  #refuseUnreadable(turn: HostTurn, { token, priority, text }: Taken, refusal: string): void {
    const { id, marks } = unpackRequest(text)
    this.#logger.warn({ id, reason: refusal }, 'this release cannot read a request; it is given back')
    this.#refused({ turn, priority, text }, id, marks.refusals + 1).then(
      (placed) => this.#putBack(turn, token, [placed], { id, refusal }),
      // It stays in flight, and comes back with its turn.
      (error: unknown) => this.#logger.warn({ id, err: error }, 'a request could not be given back'),
    )
  }

  /** What nobody here waits for. */
  #putBack(
    turn: HostTurn,
    token: string,
    placed: readonly Placed[],
    refused: { id?: string; refusal?: string } = {},
  ): void {
    const resolve = () => turn.held.delete(token)
    // Redis is slow or away, which may be why it goes back: as long as the turn is ours, nobody else would see to it.
    const reject = (error: unknown) => {
      if (this.#isClosed || (error instanceof WebloomError && error.code === 'WL_LEASE_LOST')) return
      setTimeout(() => this.#putBack(turn, token, placed, refused), FULL_RETRY_MS).unref()
    }
    this.#exchange.end({ turn, ended: { token, placed, ...refused }, adds: 0, resolve, reject })
  }

  /** Requests have come to a line; the turn that this worker has of it must not sleep on. */
  #arrived({ host, priority }: Pick<Placed, 'host' | 'priority'>): void {
    const turn = this.#turns.of(host)
    if (!turn) return
    const before = turn.head
    turn.arrived(priority)
    if (turn.head !== before) this.#turns.place(turn)
  }

  #stir({ woken, raised }: Stirred): void {
    if (woken.length > 0) this.#say(this.#jobs.add(woken).then(() => this.#point('woken')))
    if (raised.length > 0) this.#say(this.#jobs.raise(raised))
  }

  /** What BullMQ does not hear, the sweep finds. */
  #say(saying: Promise<void>): void {
    const said = saying
      .catch((error: unknown) => this.#logger.debug({ err: error }, 'BullMQ was not told of a turn'))
      .finally(() => this.#saying.delete(said))
    this.#saying.add(said)
  }

  #lose(turn: HostTurn, reason: string): void {
    turn.isLost = true
    this.#turns.remove(turn)
    this.#exchange.lost(turn, lostError(reason))
    for (const lease of turn.held.values()) this.#desk.lose(lease, reason)
  }

  /** Gives its turn up when it holds nothing and its host may not be asked for a while. */
  #maybeLeave(turn: HostTurn): void {
    if (turn.isLeaving || turn.held.size > 0) return
    if (turn.goesOnAtMs - performance.now() > LINGER_MS) this.#exchange.leave(turn)
  }

  /** Sleeps until the next of the held turns may go. */
  #arm(): void {
    clearTimeout(this.#alarm)
    const { nextAtMs } = this.#turns
    if (this.#isClosed || nextAtMs === Number.POSITIVE_INFINITY) return
    this.#alarm = setTimeout(() => this.#serve(), Math.max(1, Math.ceil(nextAtMs - performance.now())))
  }

  async #giveAllBack(): Promise<void> {
    await this.#intake.settled()
    for (const turn of this.#turns) {
      for (const lease of turn.held.values()) this.#giveLeaseBack(lease)
      turn.spare = undefined
      this.#exchange.leave(turn)
    }
    await this.#exchange.settled()
    await Promise.all(this.#saying)
    await this.#scripts.leave(this.#options.workerId)
  }

  /** What was handed out may have been fetched. */
  #giveLeaseBack(lease: TurnLease): void {
    if (lease.state === 'ending' || lease.state === 'lost') return
    const isOut = lease.state === 'out'
    const text = isOut ? remarked(lease.text, { attempt: lease.attempt + 1 }) : lease.text
    const placed = [this.#asItWas({ turn: lease.turn, priority: lease.priority, text })]
    this.#end(lease, { placed, keepsHistory: true }).catch(() => {})
    if (isOut) lease.lose('the queue was closed')
  }

  #point(name: TurnPoint): void {
    this.#options.onPoint?.(name)
  }
}

async function explained<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && error.message.includes('OOM')) throw fullError(error)
    throw error
  }
}
