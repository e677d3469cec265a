/**
 * Looks after the outboxes of all shards, and tells when nothing is left in any of them.
 *
 *     every two seconds   one worker of all reads the state of all shards that have something for others, has sent again what is lacking, and deletes what is
 *                         safe, and every four seconds that of all others: those tell when they have something (shard-rest.ts)
 *     at the end          whoever finds nothing left is the one that looks again and again, until two looks say that the crawl is over
 *
 * What is looked for, and why two looks suffice: outbox-tender.ts, crawl-end-rounds.ts.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, type ProtocolTimes, within } from '@webloom/core'
import type { ShardScripts } from '../buckets/scripts/shard-scripts.ts'
import { CrawlEndRounds, isNothingLeft } from '../shards/crawl-end-rounds.ts'
import { HOME } from '../shards/crawl-shards.ts'
import { countSent, hasEntries } from '../shards/outbox-numbers.ts'
import { OutboxTender, type Resend, type Trim } from '../shards/outbox-tender.ts'
import type { ShardRest } from '../shards/shard-rest.ts'
import type { Round } from '../shards/shard-state.ts'
import type { OutboxDelivery } from './outbox-delivery.ts'
import { ShardLooks } from './shard-looks.ts'
import type { ShardsHome } from './shards-home.ts'

/** In looks: so long one worker may tend. A server that goes away meanwhile holds that up for less, so that no two do it at once. */
const TENDER_LOOKS = 2.5
const TENDS_LOOKS_MAX = 2
/** In looks: so often it is looked at those that have nothing for others, or nothing at all: whether their server has gone back, or a message was lost. */
const QUIET_LOOKS = 2
/** For so many looks a crawl that had nothing at all is believed to have nothing, unless it tells otherwise. */
const BELIEVED_LOOKS = 5
/** Longer than it takes where there is no replica: then `keptMs` must have gone. */
const ENDS_MS_MAX = 8000
/** Longer than a look takes: who has ended a crawl's last look is not there any more after this. */
const ENDER_MS = 1000
/** How many entries are read at once, and for how many pairs of shards at the same time: what is read is in memory. */
const MAX_ENTRIES_PER_READ = 500
const CONCURRENT_RESENDS_MAX = 4

export interface ShardsTendingOptions {
  /** Of all shards and of the home, by name. */
  readonly scripts: ReadonlyMap<string, Pick<ShardScripts, 'quietIn' | 'shardState' | 'read' | 'trim'>>
  /** The same, whether there is anything in them. */
  readonly rests: ReadonlyMap<string, ShardRest>
  readonly home: Pick<
    ShardsHome,
    'run' | 'look' | 'takes' | 'isOfAnother' | 'letsGo' | 'owesNothing' | 'endLost' | 'keep'
  >
  readonly delivery: OutboxDelivery
  /** Called with a shard that may have something, which nobody has told. */
  readonly onMissed: (shard: string) => void
  readonly times: ProtocolTimes
  readonly logger: Logger
}

export class ShardsTending {
  readonly #options: ShardsTendingOptions
  readonly #looks: ShardLooks
  readonly #tender: OutboxTender
  readonly #closing = new AbortController()
  /** Shards that knew nothing of the run at the last look: they are looked at again, whatever they have. */
  #strange: readonly string[] = []
  /** Those that have not got all that others had for them at the last look. */
  #receivers: readonly string[] = []
  #lookNumber = 0
  /** When nothing was found in any of them, and all would have told otherwise since. */
  #nothingAtMs = Number.NEGATIVE_INFINITY
  #stirs = 0

  constructor(options: ShardsTendingOptions) {
    this.#options = options
    this.#looks = new ShardLooks(options.scripts)
    this.#tender = new OutboxTender(options.times.shards)
    for (const rest of options.rests.values())
      rest.onStirred(() => {
        this.#nothingAtMs = Number.NEGATIVE_INFINITY
        this.#stirs++
      })
  }

  open(): void {
    void this.#run()
  }

  /** What is under way goes on: a shard that is away would hold it up. */
  close(): void {
    this.#closing.abort()
  }

  /**
   * Whether nothing waits, is held back or is leased in any shard, or on its way to one: at most moments, none is. While another worker
   * looks again and again, its last look has found that.
   */
  async isNothingLeft(): Promise<boolean> {
    const believedMs = BELIEVED_LOOKS * this.#options.times.shards.lookEveryMs
    if (performance.now() - this.#nothingAtMs < believedMs) return true
    if (await this.#options.home.isOfAnother('ender')) return true
    const [areQuiet, stirs] = [this.#areAllQuiet, this.#stirs]
    const isNothing = isNothingLeft(await this.#looks.all())
    if (isNothing && areQuiet && stirs === this.#stirs) this.#nothingAtMs = performance.now()
    return isNothing
  }

  /**
   * Resolves to how many entries the home had sent when the crawl was over, and to undefined when it is not, or another worker is at
   * that; it takes as long as it is not sure.
   */
  async isOver(): Promise<number | undefined> {
    const { home, times } = this.#options
    if (await home.isOfAnother('ender')) return undefined
    try {
      return await this.#lookUntilSure(new CrawlEndRounds(times.shards))
    } finally {
      await home.letsGo('ender')
    }
  }

  async #lookUntilSure(rounds: CrawlEndRounds): Promise<number | undefined> {
    const { home, times } = this.#options
    const until = performance.now() + ENDS_MS_MAX
    while (performance.now() < until && !this.#closing.signal.aborted) {
      const round = await this.#looks.all()
      const said = rounds.look(round)
      if (said === 'over') return countSent(round.get(HOME)!.sent)
      if (said === 'no' || !(await home.takes('ender', ENDER_MS))) return undefined
      await sleep(times.shards.endLookMs)
    }
    return undefined
  }

  async #run(): Promise<void> {
    const { logger, times } = this.#options
    const { lookEveryMs } = times.shards
    const { signal } = this.#closing
    while (!signal.aborted) {
      await sleep(lookEveryMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      try {
        await this.#lookAfter()
      } catch (error) {
        logger.debug({ err: error }, 'the shards of the crawl could not be looked after; trying again')
      }
    }
  }

  async #lookAfter(): Promise<void> {
    const { home, times } = this.#options
    const isQuietsTurn = this.#lookNumber++ % QUIET_LOOKS === 0
    if (!isQuietsTurn && this.#due(isQuietsTurn).length === 0) return
    await home.look()
    if (!(await home.takes('tender', TENDER_LOOKS * times.shards.lookEveryMs))) return
    const [missed] = isQuietsTurn ? await Promise.all([this.#lookAtQuiet(), home.keep()]) : [[]]
    const names = new Set([...this.#due(isQuietsTurn), ...missed])
    if (names.size > 0) await this.#tend(names)
  }

  /** Those that are to be looked at now. */
  #due(isQuietsTurn: boolean): string[] {
    const isDue = ({ isQuiet, isStill }: ShardRest) => !isQuiet && (!isStill || isQuietsTurn)
    const due = [...this.#options.rests].filter(([, rest]) => isDue(rest)).map(([name]) => name)
    return [...new Set([...due, ...this.#receivers, ...this.#strange])]
  }

  /** Resolves to those that are noted as quiet no more: they have gone back, or have lost all, or the message that said so was lost. */
  async #lookAtQuiet(): Promise<string[]> {
    const { rests, home, onMissed } = this.#options
    const names = [...rests].filter(([, { isQuiet }]) => isQuiet).map(([name]) => name)
    const missed = [...(await this.#looks.quietIn(names))]
      .filter(([, run]) => run !== home.run)
      .map(([name]) => name)
    missed.forEach(onMissed)
    return missed
  }

  /** Where a shard is away, the outboxes of the others go on: else they would fill up as its own does. */
  async #tend(names: Iterable<string>): Promise<void> {
    const { rests } = this.#options
    const round = await this.#looks.answering(names, (name) => !rests.get(name)!.isStill)
    await this.#endLost(round)
    this.#receivers = receiversIn(round)
    const { resends, trims } = this.#tender.look(round)
    const forMs = TENDS_LOOKS_MAX * this.#options.times.shards.lookEveryMs
    await within(forMs, 'tending outboxes', Promise.all([this.#resendAll(resends, forMs), this.#trim(trims)]))
  }

  /** The home has no requests, and is never quiet. */
  get #areAllQuiet(): boolean {
    return [...this.#options.rests].every(([name, rest]) => (name === HOME ? rest.isStill : rest.isQuiet))
  }

  /**
   * A shard whose server has lost everything knows of no run, and would refuse all that is brought to it for ever. One that does not know of the run yet,
   * as that has just begun, is told of it before the home owes nothing: what a look that begins after that finds strange is lost.
   */
  async #endLost(round: Round): Promise<void> {
    const { home, times } = this.#options
    this.#strange = this.#strangeIn(round)
    if (this.#strange.length === 0 || !(await home.owesNothing())) return
    await sleep(times.shards.endLookMs)
    const lost = this.#strangeIn(await this.#looks.answering(this.#strange))
    if (lost.length > 0) await home.endLost(lost)
  }

  #strangeIn(round: Round): string[] {
    const { home } = this.#options
    return [...round].filter(([name, { run }]) => name !== HOME && run !== home.run).map(([name]) => name)
  }

  /** What does not fit into the time is sent after the next look. */
  async #resendAll(resends: readonly Resend[], forMs: number): Promise<void> {
    const until = performance.now() + forMs
    const left = [...resends]
    const some = Array.from({ length: CONCURRENT_RESENDS_MAX }, async () => {
      for (let one = left.shift(); one; one = left.shift()) await this.#resend(one, until)
    })
    await Promise.all(some)
  }

  async #resend({ sender, receiver, from }: Resend, until: number): Promise<void> {
    const { scripts, delivery } = this.#options
    let next = from.number
    while (performance.now() < until) {
      const deliveries = await scripts.get(sender)!.read(sender, receiver, next, MAX_ENTRIES_PER_READ)
      const last = deliveries.at(-1)?.entries.at(-1)
      if (last === undefined) return
      await delivery.deliver(receiver, deliveries)
      next = Number.parseInt(last, 10) + 1
    }
  }

  async #trim(trims: readonly Trim[]): Promise<void> {
    const { scripts } = this.#options
    for (const [sender, some] of Map.groupBy(trims, (one) => one.sender))
      await scripts.get(sender)!.trim(some)
  }
}

/** Those for which a shard has something in its list. */
function receiversIn(round: Round): string[] {
  const lists = [...round.values()].flatMap(({ sent }) => [...sent])
  return lists.filter(hasEntries).map(([receiver]) => receiver)
}
