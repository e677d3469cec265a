import type { CrawlRun } from '@webloom/core'

/**
 * Returns a run for all parts of one filter: what they ask at the same moment is asked once, and they listen as one. An answer serves
 * only those who had asked before it was asked for, as the run may be another one the moment after.
 */
export function runOfParts(run: CrawlRun): CrawlRun {
  const { redisRunId, keptRunId, onQueueBack } = run
  return {
    name: () => run.name(),
    ...(redisRunId && { redisRunId: askedTogether(() => redisRunId.call(run)) }),
    ...(keptRunId && { keptRunId: askedTogether(() => keptRunId.call(run)) }),
    ...(onQueueBack && { onQueueBack: heardTogether((listener) => onQueueBack.call(run, listener)) }),
  }
}

function askedTogether(ask: () => Promise<string>): () => Promise<string> {
  let underWay: Promise<unknown> = Promise.resolve()
  let next: Promise<string> | undefined
  const askNext = async (before: Promise<unknown>) => {
    await before.catch(() => {})
    next = undefined
    return ask()
  }
  return () => {
    if (!next) {
      next = askNext(underWay)
      underWay = next
    }
    return next
  }
}

function heardTogether(listen: (listener: () => void) => void): (listener: () => void) => void {
  const listeners: (() => void)[] = []
  return (listener) => {
    listeners.push(listener)
    if (listeners.length > 1) return
    listen(() => {
      for (const one of listeners) one()
    })
  }
}
