import {
  type Crawler,
  NotConfigured,
  type Request,
  type Response,
  type SpiderMiddleware,
} from '@webloom/core'
import { type PathLimits, pathTrapOf } from '../traps/path-trap.ts'
import { TrapReport } from '../traps/trap-report.ts'

const SETTING_OF = {
  repeated_segments: 'TRAP_SEGMENT_REPEATS_MAX',
  too_many_segments: 'TRAP_SEGMENTS_MAX',
} as const

/** Drops links whose path repeats itself: relative links that a server answers on every level. */
export class PathTrapsMiddleware implements SpiderMiddleware {
  readonly #limits: PathLimits
  readonly #report: TrapReport

  constructor({ limits, report }: { limits: PathLimits; report: TrapReport }) {
    this.#limits = limits
    this.#report = report
  }

  static fromCrawler({ settings, stats, logger }: Crawler): PathTrapsMiddleware {
    const limits = {
      segmentsMax: settings.getInt('TRAP_SEGMENTS_MAX'),
      repeatsMax: settings.getInt('TRAP_SEGMENT_REPEATS_MAX'),
    }
    if (limits.segmentsMax === 0 && limits.repeatsMax === 0)
      throw new NotConfigured('no TRAP_SEGMENT… is set')
    return new this({ limits, report: new TrapReport({ stats, logger }) })
  }

  processSpiderRequest(request: Request, response: Response | null): Request | null {
    // Requests of start() are not checked, as their author chose them.
    const trap = response && pathTrapOf(request.url, this.#limits)
    if (!trap) return request
    this.#report.dropped(request, trap, SETTING_OF[trap])
    return null
  }
}
