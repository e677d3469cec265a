import type { CrawlDesk } from '@webloom/core'
import { MadeUpDesks } from './made-up-desks.ts'

/** Made up crawls that can be told things, and note them. */
export class ToldDesks extends MadeUpDesks {
  /** What the crawl was told, with all that was said. */
  readonly told: unknown[][] = []
  isRunning = true

  override async desk(id: string): Promise<CrawlDesk | undefined> {
    const desk = await super.desk(id)
    const note =
      <Answer>(what: string, answer: () => Answer) =>
      async (...words: readonly unknown[]): Promise<Answer> => {
        this.told.push([what, ...words])
        return answer()
      }
    const isRunning = () => this.isRunning
    return (
      desk && {
        ...desk,
        failed: note('failed', () => []),
        pause: note('pause', isRunning),
        resume: note('resume', isRunning),
        stop: note('stop', isRunning),
        setHost: note('setHost', () => {}),
        retryFailed: note('retryFailed', () => ({ queued: 3, unreadable: 1 })),
        dropFailed: note('dropFailed', () => 2),
      }
    )
  }
}
