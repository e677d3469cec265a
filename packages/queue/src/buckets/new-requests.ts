import { inDoubtAsker, type QueuedRequest, type StartRequest } from '@webloom/core'
import type { StartSpan } from '../crawl/start-span.ts'
import type { Retried } from '../failures/redis-failures.ts'
import { MAX_REQUESTS_PER_SCRIPT } from '../frontier/frontier-message.ts'
import type { JobChanges, Placed } from '../frontier/turn-protocol.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import type { SentEntries } from '../shards/outbox-entry.ts'
import type { ReadEntries } from '../visits/read-entries.ts'
import type { BucketPlacing } from './bucket-placing.ts'
import type { BucketScripts } from './scripts/bucket-scripts.ts'
import { type CommandNumbers, WentBack } from './scripts/command-numbers.ts'
import type { Pushed, PushPart } from './scripts/placed-lines.ts'
import type { QueuedAskers } from './scripts/queued-askers.ts'
import { explained } from './turn-errors.ts'

export interface NewRequestsOptions {
  readonly scripts: BucketScripts
  readonly commands: CommandNumbers
  readonly queued: QueuedAskers
  readonly slots: HostSlots
  readonly placing: BucketPlacing
  /** Called with what a script has changed, and the lines that it was given requests for. */
  readonly onAdded: (
    jobChanges: JobChanges,
    groups: readonly Pick<Placed, 'place' | 'bucket' | 'slot' | 'priority'>[],
  ) => void
  /** Called with what a script was given, and what of it it has written for other shards. */
  readonly onSent?: ((groups: readonly Placed[], sent: readonly SentEntries[]) => void) | undefined
  readonly onPoint: (name: 'pushed') => void
  /** Called when Redis has done nothing of what was sent, as it has gone back. */
  readonly onWentBack: (error: WentBack) => void
  /** While Redis, which has gone back, is told what is held here no more: nothing else is said. Default: it is told of nothing. */
  readonly resetting?: () => Promise<void> | undefined
}

/** Requests that come to lines in Redis: pushed, no longer in doubt, or tried once more after a failure. */
export class NewRequests {
  readonly #options: NewRequestsOptions

  constructor(options: NewRequestsOptions) {
    this.#options = options
  }

  /** Resolves to how many were added. */
  async push(batch: readonly QueuedRequest[], asker: string): Promise<number> {
    const { slots, placing } = this.#options
    const element = /^start\/(\d+)$/.exec(asker)?.[1]
    if (element !== undefined) {
      const start = batch.map((queued) => ({ ...queued, element: Number(element) }))
      return this.pushStart(start, { from: Number(element), to: Number(element) + 1 })
    }
    await slots.prepare(batch)
    let added = 0
    for (let from = 0; from === 0 || from < batch.length; from += MAX_REQUESTS_PER_SCRIPT) {
      const part = batch.slice(from, from + MAX_REQUESTS_PER_SCRIPT)
      added += await this.#pushPart({ asker, isNoting: true, groups: placing.pushed(part, () => asker) })
    }
    if (batch.length > 0) this.#options.queued.note(asker, this.#options.commands.answered)
    return added
  }

  /** Sends one script, which needs no note beside the cursor. */
  async pushStart(batch: readonly StartRequest[], start: StartSpan): Promise<number> {
    const { slots, placing } = this.#options
    await slots.prepare(batch)
    const groups = placing.pushed(
      batch,
      ({ element }) => `start/${element}`,
      ({ element }) => `${element}`,
    )
    const added = await this.#pushPart({ asker: 'start', isNoting: false, start, groups })
    for (const { element } of batch)
      this.#options.queued.note(`start/${element}`, this.#options.commands.answered)
    return added
  }

  /** Resolves to the ids that were queued. */
  async endDoubts(args: readonly (string | number)[], requests: readonly QueuedRequest[]): Promise<string[]> {
    const { slots, placing, scripts, onAdded, onSent } = this.#options
    await slots.prepare(requests)
    const fresh = placing.pushed(requests, inDoubtAsker)
    const { queued, sent, ...jobChanges } = await scripts.endDoubts({ args, fresh })
    // It has no number: what Redis has lost since the latest one may be this.
    for (const id of queued)
      this.#options.queued.note(inDoubtAsker({ id }), this.#options.commands.answered + 1)
    onAdded(jobChanges, fresh)
    if (sent && onSent) onSent(groupsOf(fresh, new Set(queued)), sent)
    return queued
  }

  /** Resolves to the ids that were queued; to `ended` when the crawl has ended, and nothing was done. */
  async retryFailed(retried: readonly Retried[]): Promise<readonly string[] | 'ended'> {
    const { slots, placing, scripts, onAdded } = this.#options
    await slots.prepare(retried)
    const groups = placing.retried(retried)
    const done = await scripts.retryFailed(groups)
    if (done === 'ended') return done
    const { queued, ...jobChanges } = done
    onAdded(
      jobChanges,
      groups.map((group) => ({ ...group, place: 'end' as const })),
    )
    return queued
  }

  /** Resolves to how many of the pages that are due were queued; to `ended` when the crawl has ended, and nothing was done. */
  async queueDue(
    read: ReadEntries,
    pages: readonly (QueuedRequest & { readonly name: Buffer })[],
  ): Promise<number | 'ended'> {
    const { slots, placing, scripts, onAdded } = this.#options
    await slots.prepare(pages)
    const groups = placing.due(pages)
    const done = await scripts.queueDue({ ...read, groups })
    if (done === 'ended') return done
    const { queued, ...jobChanges } = done
    onAdded(
      jobChanges,
      groups.map((group) => ({ ...group, place: 'end' as const, requests: [] })),
    )
    return queued
  }

  async #pushPart(part: Omit<PushPart, 'command'>): Promise<number> {
    const { onAdded, onSent, onPoint } = this.#options
    const { added, sent, ...jobChanges } = await this.#sayPart(part)
    onPoint('pushed')
    onAdded(jobChanges, part.groups)
    if (sent && onSent) onSent(writtenOf(part, added), sent)
    return added
  }

  /**
   * Sends one part of a push. Earlier parts may be lost with an older state of Redis. Then the lease of their page is lost
   * as well, and start() finds a gap.
   */
  async #sayPart(
    part: Omit<PushPart, 'command'>,
  ): Promise<JobChanges & { added: number; sent?: readonly SentEntries[] }> {
    const { scripts, commands, onWentBack, resetting } = this.#options
    for (let told = resetting?.(); told; told = resetting?.()) await told
    const number = commands.next()
    try {
      const done = await explained(scripts.push({ ...part, command: number }))
      commands.wasAnswered(number)
      return done
    } catch (error) {
      if (!(error instanceof WentBack)) throw error
      onWentBack(error)
      return this.#sayPart(part)
    }
  }
}

/** What was written of a push: all, or it is not known which, as some was there before. */
function writtenOf({ groups }: Omit<PushPart, 'command'>, added: number): Placed[] {
  const given = groups.filter(({ place }) => place === 'end')
  const count = given.reduce((sum, { requests }) => sum + requests.length, 0)
  return count === added ? groupsOf(given) : []
}

/** Groups as they are written, of these ids alone. */
function groupsOf(groups: readonly Pushed[], ids?: ReadonlySet<string>): Placed[] {
  const left = ids && new Set(ids)
  return groups
    .map(({ requests, ...line }) => {
      // Given twice it is written once: an entry too many would be taken for the one that has its number.
      const written = left ? requests.filter(({ id }) => left.delete(id)) : requests
      return { ...line, texts: written.map(({ text }) => text) }
    })
    .filter(({ texts }) => texts.length > 0)
}
