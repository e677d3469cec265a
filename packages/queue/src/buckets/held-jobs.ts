import type { Effect } from '../frontier/frontier-effects.ts'
import type { HeldTurn } from '../frontier/held-turn.ts'
import type { KeptLocks } from '../locks/lock-keeper.ts'
import { lockArgs } from './scripts/turn-wire.ts'
import type { TurnJob as BullTurn, TurnJobs } from './turn-jobs.ts'

export interface HeldJobsOptions {
  readonly jobs: TurnJobs
  /** Renews the jobs' locks while the event loop is blocked. */
  readonly locks: KeptLocks
  readonly onPoint: (name: 'left' | 'completed') => void
}

/** The jobs of held turns, as BullMQ has them, and their locks. */
export class HeldJobs {
  readonly #options: HeldJobsOptions
  readonly #bulls = new Map<HeldTurn, BullTurn>()

  constructor(options: HeldJobsOptions) {
    this.#options = options
  }

  begun(turn: HeldTurn, bull: BullTurn): void {
    const { holder, job } = turn
    this.#bulls.set(turn, bull)
    this.#options.locks.keep(holder, lockArgs({ job: job.job, lockToken: job.lockToken, holder }))
  }

  /** The turn is over, or another worker may have it: BullMQ is told. Returns false when it was told before. */
  end(ended: Effect & { readonly kind: 'complete' | 'give back' }): boolean {
    const { jobs, locks, onPoint } = this.#options
    const { turn } = ended
    const bull = this.#bulls.get(turn)
    this.#bulls.delete(turn)
    locks.drop(turn.holder)
    if (!bull) return false
    onPoint('left')
    const telling =
      ended.kind === 'complete' ? jobs.complete(bull) : jobs.giveBack(bull, ended.ms, ended.priority)
    jobs.tell(telling.then(() => onPoint('completed')))
    return true
  }
}
