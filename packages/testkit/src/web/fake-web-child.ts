/**
 * The child's side of `startFakeWebProcess`: a fake web that is asked over IPC. Each question has an id and gets
 * one reply with the same id. It ends with its parent, so that a killed test run leaves no servers behind.
 */

import type { FakeWebOptions } from '../graph/options.ts'
import { type FakeWeb, startFakeWeb } from './fake-web.ts'
import type { HitSnapshot } from './hit-log.ts'

/** What the parent may ask, with the answers it gets. */
export interface FakeWebQuestions {
  start(options: FakeWebOptions): Promise<{ origins: readonly string[]; timeOriginMs: number }>
  snapshot(): HitSnapshot
  hitCount(): number
  waitForHits(count: number, timeoutMs?: number, url?: string): Promise<void>
  resetHits(): void
  hostDown(host: number): Promise<void>
  hostUp(host: number): Promise<void>
  /** Closes it. Another one may be started then. */
  stop(): Promise<void>
}

/** One question on its way. */
export interface FakeWebQuestion {
  readonly id: number
  readonly ask: keyof FakeWebQuestions
  readonly args: readonly unknown[]
}

/** Its reply: `error` is a message, and there is no `answer` then. */
export interface FakeWebReply {
  readonly id: number
  readonly answer?: unknown
  readonly error?: string
}

let web: FakeWeb | undefined

const questions: FakeWebQuestions = {
  async start(options) {
    web = await startFakeWeb(options)
    return { origins: web.origins, timeOriginMs: performance.timeOrigin }
  },
  snapshot: () => started().log.toSnapshot(),
  hitCount: () => started().log.count,
  waitForHits: (count, timeoutMs, url) => started().waitForHits(count, timeoutMs, url),
  resetHits: () => started().resetHits(),
  hostDown: (host) => started().hostDown(host),
  hostUp: (host) => started().hostUp(host),
  async stop() {
    await started().close()
    web = undefined
  },
}

function started(): FakeWeb {
  if (web === undefined) throw new Error('fake web: the process was asked before it was started')
  return web
}

async function reply({ id, ask, args }: FakeWebQuestion): Promise<FakeWebReply> {
  try {
    const answerOf = questions[ask] as (...args: readonly unknown[]) => unknown
    return { id, answer: await answerOf(...args) }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}

process.on('disconnect', () => process.exit())
process.on('message', async (question: FakeWebQuestion) => {
  const answer = await reply(question)
  // The parent may have gone while the answer was made.
  if (process.connected) process.send!(answer)
})
