import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, storeTrouble } from '@webloom/core'

/**
 * Repeats a step while its Redis is away, or takes no writes. Rejects with any other error, and with that one when `isOver`.
 * A process that has nothing else to do does not stay for it.
 */
export async function untilTaken<T>(
  step: () => Promise<T>,
  { isOver, everyMs, logger }: { isOver: () => boolean; everyMs: number; logger: Logger },
): Promise<T> {
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (isOver() || storeTrouble(error) === undefined) throw error
      logger.debug({ err: error }, 'the queue’s Redis does not take it now; trying again')
      await sleep(everyMs, undefined, { ref: false })
    }
  }
}
