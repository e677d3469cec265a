/**
 * The crawl's connection as components get it: `crawler.redis(role)`. Everything goes to the one client that ioredis keeps, but for what one
 * component's call would do to all others. Of the crawl's own parts those that have deadlines of their own use the client itself.
 */

import { PassingSet } from '@webloom/core'
import type { Redis } from 'ioredis'
import { ENDS, sharedRefusal } from './shared-commands.ts'

/** As ioredis sends it. */
interface SentCommand {
  readonly name: string
  readonly args: readonly unknown[]
  readonly promise: Promise<unknown>
  reject(error: Error): void
}

/** Where ioredis sends every command that is none of a pipeline by; one of a pipeline has a stream. */
type SendCommand = (command: SentCommand, stream?: unknown, ...rest: unknown[]) => unknown

/** How long a Redis may be silent once the crawl closes: then what components have asked it rejects. */
const SILENT_MS_MAX = 5000
/** What they ask after that has this long: Redis may be back. */
const SILENT_ANSWER_MS_MAX = 200

/** One shared connection, as components see it. */
export class SharedClient {
  /**
   * Refuses commands that hold others up or change the connection for them, also where `call` sends them: such a call rejects, and
   * `disconnect()` throws. `duplicate()` gives a connection that takes them all. A pipeline's commands are not looked at.
   */
  readonly client: Redis
  readonly #pending = new PassingSet<SentCommand>()
  readonly #silentMsMax: number
  /** When Redis was asked what it has not answered, and nothing after it either. */
  #silentSince: number | undefined
  /** Connections that components have made of this one, and have not ended. */
  readonly #duplicates = new Set<Redis>()
  #isClosing = false
  #isClosed = false

  /** @param db the database that the connection is in */
  constructor(client: Redis, db: number, { silentMsMax = SILENT_MS_MAX } = {}) {
    this.#silentMsMax = silentMsMax
    // As it is then: a connection that is given up rejects all (lasting-trouble.ts).
    const send: SendCommand = (...sent) => (client.sendCommand as SendCommand).apply(client, sent)
    const own: Readonly<Record<string | symbol, unknown>> = {
      sendCommand: ((command, stream, ...rest) => {
        const why = stream === undefined ? sharedRefusal(command, db) : undefined
        if (why !== undefined) return Promise.reject(refused(why))
        return this.#watched(command, stream, () => send(command, stream, ...rest))
      }) satisfies SendCommand,
      disconnect() {
        throw refused(`DISCONNECT ${ENDS}`)
      },
      duplicate: (...given: Parameters<Redis['duplicate']>) => this.#handedOut(client.duplicate(...given)),
      // What ioredis sets up then must be the client itself.
      connect: () => client.connect(),
    }
    this.client = new Proxy(client, {
      get: (target, name) => (Object.hasOwn(own, name) ? own[name] : Reflect.get(target, name)),
    })
  }

  /**
   * The crawl is closing its components. From now on a command rejects when Redis has not answered for about five seconds: one that
   * hangs must not hold the worker for COMPONENT_TIMEOUT, once for each component.
   */
  hurry(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    for (const command of this.#pending) this.#limit(command)
  }

  /** Ends the duplicates: one that stays open would keep the process alive. What they were asked rejects. */
  close(): void {
    this.#isClosed = true
    for (const duplicate of this.#duplicates) duplicate.disconnect()
  }

  #handedOut(made: Redis): Redis {
    if (this.#isClosed) {
      made.disconnect()
      throw new Error('the crawl has ended, and its connections are closed')
    }
    // It may be ended, and connected again.
    this.#duplicates.add(made)
    made
      .on('connecting', () => void this.#duplicates.add(made))
      .on('end', () => void this.#duplicates.delete(made))
    const duplicate = made.duplicate.bind(made)
    made.duplicate = (...given) => this.#handedOut(duplicate(...given))
    return made
  }

  #watched(command: SentCommand, stream: unknown, send: () => unknown): unknown {
    this.#pending.add(command)
    const sent = send()
    if (this.#isClosing) this.#limit(command)
    const answered = () => {
      this.#pending.delete(command)
      this.#silentSince = undefined
    }
    const failed = () => void this.#pending.delete(command)
    if (stream !== undefined || !(sent instanceof Promise)) {
      command.promise.then(answered, failed)
      return sent
    }
    // The caller gets what comes of both: an error that nobody catches is still seen.
    return sent.then(
      (answer) => {
        answered()
        return answer
      },
      (error) => {
        failed()
        throw error
      },
    )
  }

  #limit(command: SentCommand): void {
    this.#silentSince ??= performance.now()
    const left = this.#silentMsMax - (performance.now() - this.#silentSince)
    const late = () =>
      command.reject(
        new Error(
          `Command timed out: the crawl is closing, and Redis has not answered ${command.name.toUpperCase()} in time`,
        ),
      )
    const timer = setTimeout(late, Math.max(left, Math.min(SILENT_ANSWER_MS_MAX, this.#silentMsMax)))
    const stop = () => clearTimeout(timer)
    command.promise.then(stop, stop)
  }
}

function refused(command: string): Error {
  return new Error(
    `${command}, and the whole crawl shares this connection. Use redis(role).duplicate(), as in  const own = crawler.redis('queue').duplicate()  ; the crawl closes it at its end`,
  )
}
