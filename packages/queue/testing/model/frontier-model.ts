/**
 * A model of the scripts of buckets, for tests with virtual time: the same inputs and answers as `BucketScripts`, at once and
 * without Redis. `src/buckets/scripts/frontier-model.test.ts` holds it to the real scripts; without that it would prove nothing.
 *
 *     FrontierState   what Redis holds            frontier-state.ts
 *     SlotsStep       lua/slots/                  slots-step.ts
 *     TurnStep        lua/buckets/steps/          turn-step.ts
 *     QuarantineStep  lua/leasing/quarantine.lua  quarantine-step.ts
 *     ScriptStep      what of it is a turn's      script-step.ts
 *     FrontierModel   lua/buckets/                here
 *     outbox-step.ts  lua/outbox/                 outbox-step.ts
 *     ModelJobs       BullMQ                      model-jobs.ts
 *
 * Left out: links in doubt, `webloom clear`, a Redis at its maxmemory, and texts that are not ASCII. A script of the model
 * counts what it has changed as it goes; the real one does so at its end.
 */

import type { QueueCounts, QueueOrder } from '@webloom/core'
import { type CommandNumber, WentBack } from '../../src/buckets/scripts/command-numbers.ts'
import type { PushPart, RetriedGroup } from '../../src/buckets/scripts/placed-lines.ts'
import type {
  BegunTurn,
  HoldingTurn,
  JobChanges,
  Renewed,
  ShardChanges,
  TurnAnswer,
  TurnUpdate,
  UnitStatus,
  Wake,
} from '../../src/frontier/turn-protocol.ts'
import { startedName, withNotes } from '../../src/frontier/turn-protocol.ts'
import type { Swept } from '../../src/members/crawl-channel.ts'
import type { Delivery, SentEntries } from '../../src/shards/outbox-entry.ts'
import type { Trim } from '../../src/shards/outbox-tender.ts'
import type { ShardState } from '../../src/shards/shard-state.ts'
import { takeFailure } from './failure-ledger.ts'
import { type FrontierState, inMap, newState, ranked, upTo } from './frontier-state.ts'
import { ModelJobs, prioritize } from './model-jobs.ts'
import { apply, read, stateOf, together, trim } from './outbox-step.ts'
import { ScriptStep } from './script-step.ts'
import type { Turn } from './turn-step.ts'

const NOTED_MS = 604_800_000
const KNOWN_MS = 86_400_000
const SEEN_MS = 30_000
const LATE_MS = 1000
const FAR_MS = 30_000
const LOOKED_AT_MAX = 200

export interface FrontierModelOptions {
  readonly order: QueueOrder
  readonly lockMs: number
  /** Redis's clock, whole milliseconds. */
  readonly now: () => number
  readonly onPublished?: (channel: string, text: string) => void
  /** The crawl has several shards, of which this is one. */
  readonly isShard?: boolean
}

export class FrontierModel {
  readonly #options: FrontierModelOptions
  readonly jobs: ModelJobs
  state: FrontierState = newState()
  /** How many workers listen. */
  present = 1
  /** What the server's INFO says of its history: another word after each time that it has gone back. */
  replid = 'history0'

  constructor(options: FrontierModelOptions) {
    this.#options = options
    this.jobs = new ModelJobs(() => this.state)
  }

  get #nowMs(): number {
    return this.#options.now()
  }

  /** Throws WentBack. */
  push({
    command,
    asker,
    isNoting,
    groups,
  }: Omit<PushPart, 'start'>): JobChanges & { added: number; sent?: SentEntries[] } {
    this.#hear(command)
    const step = this.#step(command.worker)
    let added = 0
    for (const { bucket, slot, priority, requests } of groups) {
      const texts: string[] = []
      for (const { id, text } of requests) if (!isNoting || this.#isNew(asker, id)) texts.push(text)
      if (texts.length > 0) step.append(bucket, slot, priority, texts)
      added += texts.length
    }
    if (isNoting) this.state.owners.set(asker, this.#nowMs + NOTED_MS)
    const sent = this.#options.isShard && { sent: together(step.sent) }
    return { added, ...sent, ...step.jobChanges }
  }

  begin(
    { unit: name, lane, generation, holder, delayMs, isSecond, lockToken, ownDelays = new Map() }: BegunTurn,
    quarantineAfter: number,
  ): (JobChanges & { unitStatus: UnitStatus; reclaimed: number }) | 'gone' | 'taken' {
    const step = this.#step()
    const turn = step.turnOf({ unit: name, lane, generation, holder }, delayMs)
    const { unit } = turn
    if (unit.generations[turn.lane] !== generation) return 'gone'
    const job = step.jobOf(unit, turn.lane)
    const { active, stalled, locks } = this.state.jobs
    const token = this.#lockOf(job)
    if (token !== lockToken && (token !== undefined || !active.includes(job))) return 'taken'
    stalled.delete(job)
    locks.set(job, { token: lockToken, untilMs: this.#nowMs + this.#options.lockMs })
    const reclaimed = step.begun(turn, { isSecond, quarantineAfter, ownDelays })
    if (reclaimed === 'gone') return 'gone'
    const unitStatus = step.unitStatusOf(turn)
    return { unitStatus, reclaimed, ...step.jobChanges }
  }

  /** Throws WentBack. */
  exchange(
    turns: readonly TurnUpdate[],
    _isGrowing: boolean,
    command: CommandNumber,
    starts = 0,
  ): JobChanges & { answers: TurnAnswer[]; trimmed: number; sent?: SentEntries[] } {
    this.#hear(command)
    const step = this.#step(command.worker)
    const read = turns.map((update) => ({ update, turn: step.updated(update) }))
    for (const { unit, lane, ended } of turns)
      this.#ended(
        command.worker,
        ended.map(({ token }) => startedName(unit, lane, token)),
      )
    const answers = withNotes(
      read.map(({ update, turn }) => step.answer(turn, update)),
      starts,
    )
    for (const [n, answer] of answers.entries()) {
      const { unit, lane } = turns[n]!
      const noted = 'taken' in answer ? answer.taken.filter(({ isNoted }) => isNoted) : []
      const names = noted.map(({ token }) => startedName(unit, lane, token))
      if (names.length > 0) this.started(command.worker, names)
    }
    const sent = this.#options.isShard && { sent: together(step.sent) }
    return { answers, trimmed: step.trimmed, ...sent, ...step.jobChanges }
  }

  apply(
    worker: string,
    _run: string,
    deliveries: readonly Delivery[],
  ): ShardChanges & { added: number; lost: number } {
    const step = this.#step(worker, true)
    const { outbox } = this.state
    const done = apply(outbox, this.#nowMs, deliveries, ({ bucket, slot, priority, texts }) =>
      step.append(bucket, slot, priority, texts),
    )
    return { ...done, nudged: step.nudged, ...step.jobChanges }
  }

  shardState(): ShardState {
    return stateOf(this.state, this.replid, this.#nowMs)
  }

  read(sender: string, receiver: string, from: number, most: number): Delivery[] {
    return read(this.state.outbox, sender, receiver, from, most)
  }

  trim(trims: readonly Pick<Trim, 'receiver' | 'upTo'>[]): number {
    return trim(this.state.outbox, trims)
  }

  retryFailed(groups: readonly RetriedGroup[]): JobChanges & { queued: string[] } {
    const step = this.#step()
    const { failures } = this.state
    const queued: string[] = []
    for (const { bucket, slot, priority, requests } of groups) {
      const taken = requests.filter(({ id, key }) => takeFailure(failures, id, key))
      const texts = taken.map(({ text }) => text)
      if (texts.length > 0) step.append(bucket, slot, priority, texts)
      queued.push(...taken.map(({ id }) => id))
    }
    failures.retried += queued.length
    return { queued, ...step.jobChanges }
  }

  started(worker: string, names: readonly string[]): void {
    const started = inMap(this.state.started, worker, () => new Set())
    for (const name of names) started.add(name)
  }

  notStarted(worker: string, names: readonly string[]): void {
    this.#ended(worker, names)
  }

  #ended(worker: string, names: readonly string[]): void {
    const started = this.state.started.get(worker)
    for (const name of names) started?.delete(name)
    if (started?.size === 0) this.state.started.delete(worker)
  }

  beginAlone(worker: string, id: string): void {
    this.state.workers.set(worker, this.#nowMs)
    this.state.alone.set(worker, id)
  }

  endAlone(worker: string): void {
    this.state.alone.delete(worker)
  }

  renew<T extends HoldingTurn>(
    turns: readonly T[],
    lockMs: number,
    { coming, reset }: { coming: number; reset?: CommandNumber | undefined },
  ): Renewed<T> {
    const step = this.#step()
    const lost: T[] = []
    const unheld = new Map<T, number>()
    for (const one of turns) {
      const [, unit, lane, generation] = /^(.*)~(\d+)~(\d+)$/.exec(one.job)!
      const turn = step.turnOf(
        { unit: unit!, lane: lane!, generation: generation!, holder: one.holder },
        one.delayMs,
      )
      const open = one.batch ?? coming
      if (!this.#isRenewed(one, turn, lockMs)) lost.push(one)
      else if (open > 0) {
        const count = step.requeueUnheld(turn, new Set(one.tokens), { open, resets: reset !== undefined })
        if (count > 0) unheld.set(one, count)
      }
    }
    const isHeard = reset !== undefined && lost.length < turns.length && this.#knows(reset)
    if (isHeard) this.#hear(reset)
    return { lost, unheld, isHeard, ...step.jobChanges }
  }

  sweep(worker: string, everyMs: number, owedMs: number): Swept & { isSwept: boolean; woken: Wake[] } {
    const { counts, jobs, paused, owners, due } = this.state
    const nowMs = this.#nowMs
    const requests = counts.waiting + counts.delayed + counts.leased
    const swept = { worker, workers: this.present, requests }
    const waiting = jobs.prioritized.size + jobs.wait.length
    if (nowMs - counts.sweptAt < everyMs)
      return { isSwept: false, ...swept, waiting, unserved: waiting, woken: [] }
    counts.sweptAt = nowMs
    for (const set of [owners, paused]) for (const one of upTo(set, nowMs)) set.delete(one)
    const { workers, alone } = this.state
    for (const one of upTo(workers, nowMs - KNOWN_MS)) workers.delete(one)
    for (const one of alone.keys()) if (!workers.has(one)) alone.delete(one)
    const woken: Wake[] = []
    for (const job of upTo(due, nowMs - owedMs, LOOKED_AT_MAX)) {
      const [, name, lane, generation] = /^(.*)~(\d+)~(\d+)$/.exec(job)!
      const unit = this.state.units.get(name!)
      const hasJob = jobs.jobs.has(job)
      if (unit?.generations[Number(lane)] !== generation) due.delete(job)
      else {
        due.set(job, nowMs + (hasJob ? SEEN_MS : 0))
        if (!hasJob) woken.push({ job, priority: unit?.urgency ?? 0 })
      }
    }
    const overdue = this.#overdue()
    for (const job of overdue) {
      jobs.delayed.delete(job)
      jobs.jobs.get(job)!.delay = 0
      prioritize(jobs, job)
    }
    const all = waiting + overdue.length
    const isDue = [...jobs.delayed.values()].some((score) => score <= nowMs * 4096)
    if (all > 0 || isDue) jobs.hasMarker = true
    const first = ranked(jobs.prioritized).slice(0, LOOKED_AT_MAX)
    const unserved = all - first.filter(([job]) => this.#isServed(job)).length
    this.#options.onPublished?.('sweeps', [worker, this.present, all, requests, unserved].join('\n'))
    return { isSwept: true, ...swept, waiting: all, unserved, woken }
  }

  takeStalled(gapMs: number, backMs: number): { backForMs: number; given: number } {
    const { counts, jobs } = this.state
    if (this.#nowMs - counts.watchedAt > gapMs) {
      counts.cameBackAt = this.#nowMs
      jobs.stalled.clear()
    }
    counts.watchedAt = this.#nowMs
    const backForMs = this.#nowMs - counts.cameBackAt
    const given = backForMs >= backMs || backForMs < 0 ? this.#giveStalled() : 0
    for (const job of jobs.active) jobs.stalled.add(job)
    return { backForMs, given }
  }

  #giveStalled(): number {
    const { jobs } = this.state
    let given = 0
    for (const job of [...jobs.stalled].sort()) {
      const at = jobs.active.indexOf(job)
      if (this.#lockOf(job) !== undefined || at < 0) continue
      jobs.active.splice(at, 1)
      jobs.wait.push(job)
      jobs.hasMarker = true
      given++
    }
    jobs.stalled.clear()
    return given
  }

  leave(worker: string): void {
    this.state.workers.delete(worker)
    this.state.heard.delete(worker)
    this.state.started.delete(worker)
  }

  counts(): QueueCounts {
    const { waiting, delayed, leased } = this.state.counts
    return { waiting, delayed, leased, quarantined: this.state.quarantined.size }
  }

  /** Whether a worker has another lane of the job's unit. */
  #isServed(job: string): boolean {
    const [, name, lane] = /^(.*)~(\d+)~\d+$/.exec(job)!
    const { holders = [] } = this.state.units.get(name!) ?? {}
    return holders.some((holder, n) => holder !== undefined && n !== Number(lane))
  }

  #overdue(): string[] {
    const { delayed } = this.state.jobs
    const overdue = upTo(delayed, (this.#nowMs - LATE_MS) * 4096, LOOKED_AT_MAX)
    const far = ranked(delayed).filter(([, score]) => score >= (this.#nowMs + FAR_MS) * 4096)
    for (const [job] of far.reverse().slice(0, LOOKED_AT_MAX)) {
      const unit = this.state.units.get(job.replace(/~\d+~\d+$/, ''))
      if ((unit?.asleep ?? 0) <= this.#nowMs) overdue.push(job)
    }
    return overdue
  }

  #isRenewed({ job, lockToken, holder }: HoldingTurn, { unit, lane }: Turn, lockMs: number): boolean {
    const { active, stalled, locks } = this.state.jobs
    const token = this.#lockOf(job)
    const mayTakeAgain = token === undefined && unit.holders[lane] === holder && active.includes(job)
    if (token !== lockToken && !mayTakeAgain) return false
    locks.set(job, { token: lockToken, untilMs: this.#nowMs + lockMs })
    stalled.delete(job)
    return true
  }

  #lockOf(job: string): string | undefined {
    const lock = this.state.jobs.locks.get(job)
    return lock && lock.untilMs >= this.#nowMs ? lock.token : undefined
  }

  #hear(command: CommandNumber): void {
    const heard = this.#heardOf(command)
    if (!this.#knows(command)) throw new WentBack(heard)
    this.state.heard.set(command.worker, Math.max(heard, command.number))
  }

  #knows(command: CommandNumber): boolean {
    return this.#heardOf(command) >= command.answered
  }

  #heardOf({ worker }: CommandNumber): number {
    return this.state.heard.get(worker) ?? 0
  }

  #isNew(asker: string, id: string): boolean {
    const noted = inMap(this.state.noted, asker, () => new Set())
    return noted.size < noted.add(id).size
  }

  #step(caller?: string, tellsCaller = false): ScriptStep {
    const { order, onPublished = () => {} } = this.#options
    const { state } = this
    const { replid } = this
    return new ScriptStep({
      state,
      order,
      nowMs: this.#nowMs,
      onPublished,
      replid,
      tellsCaller,
      ...(caller && { caller }),
    })
  }
}
