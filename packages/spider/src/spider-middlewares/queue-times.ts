import {
  type Crawler,
  NotConfigured,
  QUEUE_TIMES,
  type Request,
  type Signals,
  type SpiderMiddleware,
  TimeHistogram,
} from '@webloom/core'

export interface QueueTimesOptions {
  readonly times: TimeHistogram
  readonly signals: Pick<Signals, 'connect'>
}

/**
 * Counts how long requests are in the queue, for the metric `webloom_queue_seconds`: from when a callback or `start()` yields one until it
 * is sent for the first time. Whoever yields it notes the time in `meta`, and whoever sends it takes the note away; of two machines
 * whose clocks differ the figure is off by that.
 */
export class QueueTimesMiddleware implements SpiderMiddleware {
  constructor({ times, signals }: QueueTimesOptions) {
    signals.connect('requestReachedDownloader', ({ request }) => {
      const since = request.hasMeta ? request.meta.queued_at : undefined
      if (typeof since !== 'number') return
      delete request.meta.queued_at
      times.add(Math.max(0, Date.now() - since))
    })
  }

  static fromCrawler({ settings, stats, signals }: Crawler): QueueTimesMiddleware {
    if (!settings.getBool('METRICS_TIMES')) throw new NotConfigured('METRICS_TIMES is false')
    return new this({ times: new TimeHistogram(QUEUE_TIMES, stats), signals })
  }

  processSpiderRequest(request: Request): Request {
    request.meta.queued_at = Date.now()
    return request
  }
}
