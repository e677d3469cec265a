import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebGraph } from '../graph/graph.ts'
import { type FakeWebOptions, type FakeWebPlan, planOf } from '../graph/options.ts'
import type { FakeWebQuestion, FakeWebQuestions, FakeWebReply } from './fake-web-child.ts'
import { type Hit, HitLog } from './hit-log.ts'
import { FakeWebTruth } from './truth.ts'

/**
 * Starts a fake web in a process of its own, so that a crawler under measurement does not share its event loop.
 * Everything is as with `startFakeWeb`, except that what happened is asked for with `await`, and that there are
 * no scripted routes, because code does not travel.
 */
export async function startFakeWebProcess(options: FakeWebOptions = {}): Promise<FakeWebProcess> {
  const plan = planOf(options)
  const child = idle.pop()?.resumed() ?? new Child()
  try {
    const { origins, timeOriginMs } = await child.ask('start', plan)
    return new FakeWebProcess(plan, child, { origins, timeOriginMs })
  } catch (error) {
    await child.end()
    throw error
  }
}

/** Those whose web is closed: to start a process takes longer than many a web is there. */
const idle: Child[] = []
const IDLE_MAX = 4

/** A fake web in another process. The truth is computed here, without asking. */
export class FakeWebProcess extends FakeWebTruth {
  readonly #child: Child
  readonly #shiftMs: number
  #isClosed = false

  constructor(
    plan: FakeWebPlan,
    child: Child,
    started: { origins: readonly string[]; timeOriginMs: number },
  ) {
    super({ graph: new WebGraph(plan), origins: started.origins })
    this.#child = child
    this.#shiftMs = started.timeOriginMs - performance.timeOrigin
  }

  /** The server's process id, to measure or to pin it. */
  get pid(): number {
    return this.#child.pid
  }

  /** Every request so far, in the order of arrival; the times are on this process's clock, give or take a millisecond. */
  async hits(): Promise<readonly Hit[]> {
    return (await this.log()).hits
  }

  /** The log as it is now, to ask about gaps, concurrency and connections. */
  async log(): Promise<HitLog> {
    return HitLog.fromSnapshot(await this.#ask('snapshot'), this.#shiftMs)
  }

  /** How many hits there were; cheap, for the middle of a benchmark. */
  hitCount(): Promise<number> {
    return this.#ask('hitCount')
  }

  /** Resolves as soon as there were `count` hits (of one URL, when given); rejects after `timeoutMs`. */
  waitForHits(count: number, timeoutMs?: number, url?: string): Promise<void> {
    return this.#ask('waitForHits', count, timeoutMs, url)
  }

  resetHits(): Promise<void> {
    return this.#ask('resetHits')
  }

  /** Cuts the connections of a host and refuses new ones, until `hostUp`. */
  hostDown(host: number): Promise<void> {
    return this.#ask('hostDown', host)
  }

  hostUp(host: number): Promise<void> {
    return this.#ask('hostUp', host)
  }

  /** Closes its hosts, which cuts every connection. The truth stays readable. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#child.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #ask<Ask extends keyof FakeWebQuestions>(
    ask: Ask,
    ...args: Parameters<FakeWebQuestions[Ask]>
  ): Promise<Answer<Ask>> {
    if (this.#isClosed) return Promise.reject(new Error(`fake web: closed; cannot ask it for ${ask}`))
    return this.#child.ask(ask, ...args)
  }
}

type Answer<Ask extends keyof FakeWebQuestions> = Awaited<ReturnType<FakeWebQuestions[Ask]>>

/** The process and the questions it has not answered yet. */
class Child {
  readonly #process: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #asked = 0

  constructor() {
    // Run from sources the entry is TypeScript as well; Node strips its types. `execArgv` of a test runner is not for it.
    const entry = import.meta.url.endsWith('.ts') ? './fake-web-child.ts' : './fake-web-child.js'
    this.#process = fork(new URL(entry, import.meta.url), { serialization: 'advanced', execArgv: [] })
    this.#process.on('message', (reply: FakeWebReply) => this.#settle(reply))
    this.#process.on('error', (cause) =>
      this.#fail(new Error('fake web: the process cannot be started', { cause })),
    )
    this.#exited = once(this.#process, 'exit').then(([code, signal]) => {
      const at = idle.indexOf(this)
      if (at >= 0) idle.splice(at, 1)
      this.#fail(new Error(`fake web: its process ended with ${signal ?? `code ${code}`}`))
    })
  }

  get pid(): number {
    return this.#process.pid!
  }

  ask<Ask extends keyof FakeWebQuestions>(
    ask: Ask,
    ...args: Parameters<FakeWebQuestions[Ask]>
  ): Promise<Answer<Ask>> {
    const pending = Promise.withResolvers<unknown>()
    if (!this.#process.connected)
      return Promise.reject(new Error(`fake web: closed; cannot ask it for ${ask}`))
    const question: FakeWebQuestion = { id: ++this.#asked, ask, args }
    this.#pending.set(question.id, pending)
    this.#process.send(question)
    return pending.promise as Promise<Answer<Ask>>
  }

  /** Closes its web and keeps it for the next one; a child that cannot, or of which there are enough, ends. */
  async stop(): Promise<void> {
    this.#fail(new Error('fake web: closed'))
    const isStopped = await Promise.race([
      this.ask('stop').then(() => true),
      sleep(CLOSE_TIMEOUT_MS, false, { ref: false }),
    ]).catch(() => false)
    if (!isStopped || idle.length >= IDLE_MAX) return this.end()
    // It ends with this process, which must not wait for it.
    this.#process.unref()
    this.#process.channel!.unref()
    idle.push(this)
  }

  resumed(): this {
    this.#process.ref()
    this.#process.channel!.ref()
    return this
  }

  async end(): Promise<void> {
    if (!this.#process.connected) return
    this.#process.disconnect()
    const kill = setTimeout(() => this.#process.kill('SIGKILL'), CLOSE_TIMEOUT_MS)
    await this.#exited
    clearTimeout(kill)
  }

  #settle({ id, answer, error }: FakeWebReply): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (error === undefined) pending?.resolve(answer)
    else pending?.reject(new Error(error))
  }

  #fail(error: Error): void {
    for (const pending of this.#pending.values()) pending.reject(error)
    this.#pending.clear()
  }
}

/** A child that is told of the disconnect has nothing to finish; one that does not end by then is stuck. */
const CLOSE_TIMEOUT_MS = 5_000
