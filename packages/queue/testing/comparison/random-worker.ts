/**
 * Workers that do what workers do, at random: more than any real one would, as what Redis must bear is what any may send. What
 * they have been answered is kept only as far as the next command must fit it.
 */

import type { HostNews } from '@webloom/core'
import { type CommandNumber, CommandNumbers, WentBack } from '../../src/buckets/scripts/command-numbers.ts'
import type {
  Asked,
  Ended,
  JobChanges,
  Placed,
  SlotReturned,
  SlotTold,
  Taken,
  TurnAnswer,
  TurnUpdate,
} from '../../src/frontier/turn-protocol.ts'
import { startedName } from '../../src/frontier/turn-protocol.ts'
import { addressIn } from '../../src/shards/outbox-entry.ts'
import type { SeededChance } from '../seeded-chance.ts'
import { LOCK_MS, type RedisAndModel } from './redis-and-model.ts'

const SLOTS = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test', 'hot.test', 'slow.test']
const BUCKETS = 3
const NO_PUSH = 0.02

interface Turn {
  readonly job: string
  readonly unit: string
  readonly lane: string
  readonly generation: string
  readonly holder: string
  readonly lockToken: string
  readonly tokens: Map<string, Taken>
  readonly slots: Set<string>
  batch: number | undefined
}

export class RandomWorker {
  readonly name: string
  readonly #both: RedisAndModel
  readonly #chance: SeededChance
  readonly #commands: CommandNumbers
  #turns: Turn[] = []
  #begun = 0
  #mustReset = false
  /** The last message: it may be sent again. */
  #last: { updates: TurnUpdate[]; command: CommandNumber; starts: number } | undefined
  #pushes = 0

  constructor(name: string, both: RedisAndModel, chance: SeededChance) {
    this.name = name
    this.#both = both
    this.#chance = chance
    this.#commands = new CommandNumbers(name)
  }

  async act(): Promise<void> {
    const chance = this.#chance
    const at = chance.next()
    if (at < 0.1) await this.#push()
    else if (at < 0.3) await this.#begin()
    else if (at < 0.8) await this.#exchange()
    else if (at < 0.83) await this.#repeat()
    else if (at < 0.88) await this.#renew()
    else if (at < 0.91) await this.#note()
    else if (at < 0.94) await this.#sweep()
    else if (at < 0.96) await this.#watch()
    else if (at < 0.97) await this.#retryFailed()
    else if (at < 0.98) await this.#both.run('counts', (on) => on.counts())
    else if (at < 0.985) this.#turns = []
    else if (at < 0.99) this.#turns.splice(0, 1)
    else await this.#leave()
  }

  async #push(): Promise<void> {
    const chance = this.#chance
    const groups = Array.from({ length: 1 + chance.below(3) }, () => {
      const slot = chance.of(SLOTS)
      const most = slot === 'hot.test' ? 200 : slot === 'e.test' ? 30 : 3
      const requests = Array.from({ length: chance.below(most) + 1 }, () => this.#request(slot))
      return {
        ...{ place: 'end' as const, bucket: this.#bucketFor(slot), slot },
        ...{ priority: this.#priority(), requests },
      }
    })
    if (chance.is(NO_PUSH)) groups.length = 0
    const asker = `page ${chance.is(0.3) ? chance.below(3) : `${this.name} ${this.#pushes}`}`
    const part = { command: this.#commands.next(), asker, isNoting: chance.is(0.9), groups }
    const reply = await this.#both.run('push', (on) => on.push(part))
    if (this.#answered(part.command, reply)) await this.#changeJobs(reply)
    if (chance.is(0.1)) await this.#both.run('push again', (on) => on.push(part))
  }

  #request(slot: string): { id: string; text: string } {
    const chance = this.#chance
    const id = `${slot}/${this.name}/${chance.is(0.1) ? chance.below(20) : this.#pushes++}`
    const marks = chance.is(0.2) ? `${1 + chance.below(3)}:${chance.below(3)}:0:0` : ''
    const filling = chance.is(0.1) ? 'x'.repeat(chance.below(600)) : ''
    return { id, text: `${id}\n${marks}\n{"v":1,"url":"http://${slot}/${filling}"}` }
  }

  #priority(): number {
    return this.#chance.is(0.6) ? 0 : this.#chance.below(5) - 2
  }

  async #begin(): Promise<void> {
    const chance = this.#chance
    const lockToken = `${this.name}/${++this.#begun}`
    const { nowMs } = this.#both
    const clockMs = nowMs + (chance.is(0.05) ? chance.below(7_200_000) - 3_600_000 : 0)
    const job = await this.#both.changeJobs(({ jobs }) => jobs.fetch(lockToken, LOCK_MS, nowMs, clockMs))
    if (job === undefined) return
    if (chance.is(0.05)) this.#both.nowMs += LOCK_MS + chance.below(2000)
    const [, unit, lane, generation] = /^(.*)~(\d+)~(\d+)$/.exec(job)!
    const holder = lockToken
    const name = { unit: unit!, lane: lane!, generation: generation!, lockToken, holder }
    const isSecond = this.#turns.some((turn) => turn.unit === unit)
    const isBucket = unit!.startsWith('#')
    const ownDelays = new Map(
      isBucket ? chance.some(SLOTS, 0.2).map((slot) => [slot, 700 + chance.below(9000)]) : [],
    )
    const delayMs = unit === 'slow.test' || chance.is(0.1) ? 500 : 0
    const begun = { ...name, delayMs, isSecond, ownDelays }
    const reply = await this.#both.run('begin', (on) => on.begin(begun, 2))
    if (reply instanceof WentBack || reply === 'taken') return
    if (reply === 'gone') {
      await this.#both.changeJobs(({ jobs }) => jobs.complete(job, lockToken, this.#both.nowMs))
      return
    }
    await this.#changeJobs(reply)
    this.#turns.push({ ...name, job, tokens: new Map(), slots: new Set(), batch: undefined })
  }

  async #exchange(): Promise<void> {
    const chance = this.#chance
    const number = this.#commands.coming
    const turns = chance.some(this.#turns, 0.7)
    const updates = turns.map((turn) => this.#updateOf(turn, number))
    const message = { updates, command: this.#commands.next(), starts: chance.is(0.4) ? 0 : chance.below(12) }
    this.#last = message
    const reply = await this.#both.run('exchange', (on) =>
      on.exchange(updates, false, message.command, message.starts),
    )
    // The answer is lost: the next message takes the same batches again.
    if (chance.is(0.05)) return
    if (!this.#answered(message.command, reply)) return
    await this.#changeJobs(reply)
    for (const [n, turn] of turns.entries()) await this.#told(turn, updates[n]!, reply.answers[n]!)
  }

  /** Some of those that are in the ledger, and some that are not, or not any more. */
  async #retryFailed(): Promise<void> {
    const chance = this.#chance
    const { entries } = this.#both.model.state.failures
    const groups = Array.from({ length: 1 + chance.below(2) }, () => {
      const slot = chance.of(SLOTS)
      const requests = chance.some([...entries], 0.3).map(([id, { number }]) => {
        const key = `f${number + (chance.is(0.1) ? 1 : 0)}`
        return { id, key, text: `${id}\n\n{"v":1,"url":"http://${slot}/again"}` }
      })
      return { bucket: bucketOf(slot), slot, priority: this.#priority(), requests }
    })
    const reply = await this.#both.run('retry failed', (on) => on.retryFailed(groups))
    if (!(reply instanceof WentBack) && reply !== 'ended') await this.#changeJobs(reply)
  }

  async #repeat(): Promise<void> {
    const last = this.#last
    if (last)
      await this.#both.run('exchange again', (on) =>
        on.exchange(last.updates, false, last.command, last.starts),
      )
  }

  #updateOf(turn: Turn, number: number): TurnUpdate {
    const chance = this.#chance
    const { unit, lane, generation, holder } = turn
    const leaves = chance.is(0.1)
    const ends = leaves && chance.is(0.9) ? [...turn.tokens.values()] : chance.some(turn.tokens.values(), 0.4)
    const returned = (leaves ? [...turn.slots] : chance.some(turn.slots, 0.1)).map((slot) =>
      this.#returned(slot),
    )
    const told = chance.some(turn.slots, 0.1).map((slot) => this.#toldOf(slot))
    const heats = unit.startsWith('#') && chance.is(0.05) ? 1 + chance.below(4) : 0
    const asked = this.#asked(turn, number)
    return {
      unit,
      lane,
      generation,
      holder,
      ended: ends.map((one) => this.#ended(one)),
      told,
      returned,
      asked,
      leaves,
      heats,
    }
  }

  #asked(turn: Turn, number: number): Asked {
    const chance = this.#chance
    const isBucket = turn.unit.startsWith('#')
    const known = new Set([...turn.slots, ...[...turn.tokens.values()].map(({ slot }) => slot)])
    const more = isBucket ? chance.some(known).map((slot) => ({ slot, most: chance.below(5) })) : []
    const slots = isBucket ? chance.below(5) : chance.below(2)
    if (more.length > 0 || slots > 0) turn.batch ??= number
    return {
      more,
      slots,
      each: 1 + chance.below(isBucket ? 3 : 40),
      batch: turn.batch ?? 0,
      aheadMs: 10,
      bytes: chance.is(0.1) ? 60 : 100_000,
      concurrency: chance.is(0.5) ? 0 : 1 + chance.below(40),
      delayMs: turn.unit === 'slow.test' ? 500 : 0,
      lanes: 1 + chance.below(4),
    }
  }

  #ended({ token, slot, priority, text }: Taken): Ended {
    const chance = this.#chance
    const [id] = text.split('\n')
    const bucket = bucketOf(slot)
    const at = chance.next()
    const same = { bucket, slot, priority, texts: [text] }
    const hot = chance.is(0.05) ? { hot: 'hot.test' } : {}
    if (at < 0.1) return { token, ...hot, placed: [{ place: 'head', ...same }] }
    if (at < 0.15) return { token, id: id!, placed: [{ place: chance.below(3000), ...same }] }
    if (at < 0.17) return { token, id: id!, refusal: 'no "good"', placed: [{ place: 'quarantine', ...same }] }
    if (at < 0.2)
      return { token, id: id!, refusal: 'not now', placed: [{ place: 1 + chance.below(100), ...same }] }
    if (at < 0.3) return { token, ...hot, placed: [this.#link(), this.#failed(text)] }
    if (at < 0.7) return { token, ...hot, ...(chance.is(0.3) && { id: id! }), placed: [] }
    return { token, ...hot, placed: [this.#link(), this.#link()] }
  }

  #link(): Placed {
    const slot = this.#chance.of(SLOTS)
    const texts = [this.#request(slot).text]
    return { place: 'end', bucket: this.#bucketFor(slot), slot, priority: this.#priority(), texts }
  }

  /** Some of it goes on in other shards, where there are any. */
  #bucketFor(slot: string): string {
    const chance = this.#chance
    if (!this.#both.isShard || chance.is(0.6)) return bucketOf(slot)
    return addressIn(`s${chance.below(3)}`, `page ${this.#pushes}`, bucketOf(slot))
  }

  #failed(text: string): Placed {
    const chance = this.#chance
    const [id] = text.split('\n')
    const signature = chance.is(0.3) ? `rare-${chance.below(150)}` : `status-${chance.below(4)}`
    const request = chance.is(0.8) ? `{"v":1,"url":"http://${'ü'.repeat(chance.below(9))}"}` : ''
    const known = `{"url":"http://${id}","attempts":${chance.below(9)}}`
    const failure = [id, signature, 1 + chance.below(40), known, request].join('\n')
    return { place: 'failed', bucket: '', slot: '', priority: 0, texts: [failure] }
  }

  #returned(slot: string): SlotReturned {
    const chance = this.#chance
    const lanes = chance.is(slot === 'hot.test' ? 0.8 : 0.1) ? 2 + chance.below(3) : 0
    return { ...this.#toldOf(slot), lanes, mixed: lanes > 0 ? chance.below(3) : 0 }
  }

  #toldOf(slot: string): SlotTold {
    const chance = this.#chance
    const wait = chance.is(0.3) ? { waitMs: chance.is(0.2) ? 0 : chance.next() * 1500 } : {}
    return { slot, ...wait, ...(chance.is(0.3) && { news: this.#news() }) }
  }

  #news(): HostNews {
    const chance = this.#chance
    const pause = chance.is(0.3) ? { pauseMs: chance.next() * 2000, pauseReason: 'it is "busy"' } : {}
    const delay = chance.is(0.5) ? { delayMs: chance.is(0.5) ? 0 : chance.next() * 800 } : {}
    return { ...pause, ...delay, ...(chance.is(0.5) && { failures: chance.below(3) }) }
  }

  async #told(turn: Turn, update: TurnUpdate, answer: TurnAnswer): Promise<void> {
    turn.batch = undefined
    for (const { token } of update.ended) turn.tokens.delete(token)
    for (const { slot } of update.returned) turn.slots.delete(slot)
    const { job, lockToken } = turn
    const { nowMs } = this.#both
    if (answer.status !== 'held') this.#turns = this.#turns.filter((one) => one !== turn)
    if (answer.status === 'over')
      await this.#both.changeJobs(({ jobs }) => jobs.complete(job, lockToken, nowMs))
    else if (answer.status === 'left') {
      const { head, dueInMs = 0 } = answer.unitStatus
      const back = { ms: head === undefined ? dueInMs : 0, priority: head ?? 0 }
      await this.#both.changeJobs(({ jobs }) => jobs.giveBack(job, lockToken, nowMs, back))
    } else if (answer.status === 'held')
      for (const one of answer.taken) {
        turn.tokens.set(one.token, one)
        if (one.waiting > 0) turn.slots.add(one.slot)
      }
    if (answer.status === 'held') for (const { slot } of answer.kept ?? []) turn.slots.add(slot)
  }

  async #renew(): Promise<void> {
    const chance = this.#chance
    const turns = chance.some(this.#turns, 0.8)
    const holding = turns.map(({ job, lockToken, holder, batch, tokens }) => ({
      job,
      lockToken,
      holder,
      delayMs: chance.is(0.2) ? 500 : 0,
      batch,
      tokens: chance.some(tokens.keys(), 0.97),
    }))
    const resets = this.#mustReset || chance.is(0.05)
    this.#mustReset = false
    const { coming } = this.#commands
    const reset = resets ? this.#commands.next() : undefined
    const reply = await this.#both.run('renew', (on) => on.renew(holding, LOCK_MS, { coming, reset }))
    if (reply instanceof WentBack) return
    if (reset && reply.isHeard) this.#commands.wasAnswered(reset)
    await this.#changeJobs(reply)
    const lost = new Set(reply.lost.map(({ job }) => job))
    this.#turns = this.#turns.filter(({ job }) => !lost.has(job))
  }

  async #note(): Promise<void> {
    const chance = this.#chance
    const names = chance.some(
      this.#turns.flatMap(({ unit, lane, tokens }) =>
        [...tokens.keys()].map((token) => startedName(unit, lane, token)),
      ),
    )
    const at = chance.next()
    if (at < 0.2) {
      const ids = this.#turns.flatMap((turn) =>
        [...turn.tokens.values()].map(({ text }) => text.split('\n')[0]!),
      )
      const id = chance.of([...ids, 'none'])
      await this.#both.run('begin alone', (on) => on.beginAlone(this.name, id))
    } else if (at < 0.4) await this.#both.run('end alone', async (on) => void (await on.endAlone(this.name)))
    else if (at < 0.5 && names.length > 0)
      await this.#both.run('not started', async (on) => void (await on.notStarted(this.name, names)))
    else if (names.length > 0)
      await this.#both.run('started', async (on) => void (await on.started(this.name, names)))
  }

  async #sweep(): Promise<void> {
    const everyMs = this.#chance.of([0, 1000])
    const owedMs = this.#chance.of([0, 3000])
    const reply = await this.#both.run('sweep', (on) => on.sweep(this.name, everyMs, owedMs))
    if (!(reply instanceof WentBack)) await this.#changeJobs({ woken: reply.woken, raised: [] })
  }

  async #watch(): Promise<void> {
    const gapMs = this.#chance.of([3000, 100_000])
    const backMs = this.#chance.of([0, 2000])
    await this.#both.run('takeStalled', (on) => on.takeStalled(gapMs, backMs))
  }

  async #leave(): Promise<void> {
    await this.#both.run('leave', (on) => on.leave(this.name))
  }

  /** Most of what is owed to BullMQ gets there. */
  async #changeJobs({ woken, raised }: JobChanges): Promise<void> {
    if (this.#chance.is(0.05)) return
    await this.#both.changeJobs(({ jobs }) => {
      jobs.add(woken)
      jobs.raise(raised)
    })
  }

  #answered<Reply>(command: CommandNumber, reply: Reply | WentBack): reply is Reply {
    if (!(reply instanceof WentBack)) {
      this.#commands.wasAnswered(command)
      return true
    }
    if (this.#commands.wentBack(reply)) {
      this.#mustReset = true
      for (const turn of this.#turns) turn.tokens.clear()
    }
    return false
  }
}

function bucketOf(slot: string): string {
  return `#${slot.charCodeAt(0) % BUCKETS}`
}
