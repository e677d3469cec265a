import {
  type Crawler,
  NotConfigured,
  type Request,
  type Response,
  type SpiderMiddleware,
} from '@webloom/core'
import { chainLinkOf } from '../traps/trap-chain.ts'
import { TrapReport } from '../traps/trap-report.ts'

/** Ends chains of pages of one path that bring nothing new, such as the months of a calendar. */
export class TrapChainsMiddleware implements SpiderMiddleware {
  readonly #stepsMax: number
  readonly #report: TrapReport

  constructor({ stepsMax, report }: { stepsMax: number; report: TrapReport }) {
    this.#stepsMax = stepsMax
    this.#report = report
  }

  static fromCrawler({ settings, stats, logger }: Crawler): TrapChainsMiddleware {
    const stepsMax = settings.getInt('TRAP_CHAIN_MAX')
    if (stepsMax === 0) throw new NotConfigured('TRAP_CHAIN_MAX is 0')
    return new this({ stepsMax, report: new TrapReport({ stats, logger }) })
  }

  /** Removes the chain where a callback passes its own `meta` on to other paths. */
  processSpiderRequest(request: Request): Request {
    if (request.hasMeta && request.meta.trap_chain !== undefined) delete request.meta.trap_chain
    return request
  }

  processSpiderRequests(
    requests: readonly Request[],
    items: readonly unknown[],
    { url, meta }: Response,
  ): readonly Request[] {
    const chain = chainLinkOf({ url, meta, requests, items })
    if (!chain) return requests
    if (chain.steps < this.#stepsMax) {
      for (const request of chain.onward) request.meta.trap_chain = chain.carried
      return requests
    }
    const cut = new Set(chain.onward)
    for (const request of cut) this.#report.dropped(request, 'chain', 'TRAP_CHAIN_MAX')
    return requests.filter((request) => !cut.has(request))
  }
}
