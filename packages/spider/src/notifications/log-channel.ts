import type { Notification, StatsCollector } from '@webloom/core'
import type { NotificationChannel } from './notification.ts'
import type { OwnLines } from './own-lines.ts'

/** The log: a line for each alert, once a run, by the worker that sends its message. */
export class LogChannel implements NotificationChannel {
  readonly name = 'log'
  readonly isLog = true
  readonly #lines: OwnLines
  readonly #stats: StatsCollector

  constructor(lines: OwnLines, stats: StatsCollector) {
    this.#lines = lines
    this.#stats = stats
  }

  async send({ alerts, resolved = [] }: Notification): Promise<void> {
    for (const { id, words, pages } of alerts) {
      this.#stats.inc(`monitors/alert_count/${id.split('/')[0]}`)
      this.#lines.error({ monitor: id, ...(pages && { pages }) }, `monitor ${id}: ${words}`)
    }
    for (const { id, words } of resolved)
      this.#lines.info({ monitor: id }, `monitor ${id} has recovered; it had found: ${words}`)
  }

  async close(): Promise<void> {}
}
