import { connect, type Socket } from 'node:net'
import { parseReply, RespScanner, RespSplitter } from '../redis/redis-resp.ts'

/** What the proxy does with a command. Held, its reply comes so many milliseconds late, and those behind it with it. */
export type Verdict = 'forward' | 'cut its reply' | 'cut before it' | { readonly holdReplyMs: number }

export interface ConnectionEvents {
  /** A command has come whole. `beginsBurst` when the client was owed no reply before it. */
  readonly onCommand: (command: string[], beginsBurst: boolean) => Verdict
  readonly onClose: () => void
}

/**
 * One client's connection to Redis, cut where the test wants it.
 *
 * Redis answers the commands of a connection in their order. So the proxy needs no more than to tell commands apart on
 * the way there and replies on the way back, and to keep a list of the replies that are owed.
 */
export class ProxyConnection {
  readonly #client: Socket
  readonly #upstream: Socket
  readonly #events: ConnectionEvents
  readonly #commands = new RespSplitter()
  readonly #replies = new RespScanner()
  /** Of each command that Redis has not answered yet, whether its reply is to be cut. */
  readonly #owed: Verdict[] = []
  /** Whether the next command that comes whole is the first of a burst. */
  #beginsBurst = true
  #isBetweenReplies = true
  #isPush = false
  #hangs = false
  /** A reply is being held. */
  #holds = false
  /** No more commands are forwarded; when the replies owed are delivered, the connection is cut. */
  #isLast = false

  constructor(client: Socket, target: { host: string; port: number }, events: ConnectionEvents) {
    this.#client = client
    this.#upstream = connect(target.port, target.host)
    this.#events = events
    client.setNoDelay()
    this.#upstream.setNoDelay()
    client.on('data', (chunk: Buffer) => this.#orCut(() => this.#fromClient(chunk)))
    this.#upstream.on('data', (chunk: Buffer) => this.#orCut(() => this.#fromRedis(chunk)))
    for (const [socket, other] of [
      [client, this.#upstream],
      [this.#upstream, client],
    ] as const) {
      socket.on('error', () => {}) // 'close' follows, and the other side learns of it as a broken connection does.
      socket.on('end', () => other.end())
      socket.on('drain', () => this.#hangs || (this.#holds && other === this.#upstream) || other.resume())
      socket.on('close', () => this.cut())
    }
  }

  /** Nothing passes any more in either direction, and neither side is told. */
  hang(): void {
    this.#hangs = true
    this.#client.pause()
    this.#upstream.pause()
  }

  /** What has waited passes now. */
  flow(): void {
    this.#hangs = false
    this.#client.resume()
    if (!this.#holds) this.#upstream.resume()
  }

  cut(): void {
    this.#client.destroy()
    this.#upstream.destroy()
    this.#events.onClose()
  }

  /** A stream that is not RESP cannot be followed: loud in the log of the test, and an error for its client. */
  #orCut(step: () => void): void {
    try {
      step()
    } catch (error) {
      console.error('tcp proxy:', error)
      this.cut()
    }
  }

  #fromClient(chunk: Buffer): void {
    // A long pipeline comes in several chunks, and Redis may have answered the commands of the first before the second
    // is here; the command cut in two shows that they belong together.
    if (!this.#commands.isInside) this.#beginsBurst = this.#owed.length === 0
    // What came in one piece goes on in one piece.
    const passing = this.#commands.split(chunk).filter((bytes) => this.#mayPass(bytes))
    if (passing.length > 0 && !this.#upstream.write(Buffer.concat(passing))) this.#client.pause()
    this.#cutIfDone()
  }

  #mayPass(bytes: Buffer): boolean {
    if (this.#isLast) return false
    const command = parseReply(bytes) as string[]
    const verdict = this.#events.onCommand(command, this.#beginsBurst)
    this.#beginsBurst = false
    this.#isLast = verdict === 'cut before it'
    // What answers a SUBSCRIBE comes as messages do, not in turn.
    if (!this.#isLast && !/SUBSCRIBE$/i.test(command[0]!)) this.#owed.push(verdict)
    return !this.#isLast
  }

  #fromRedis(chunk: Buffer): void {
    let start = 0
    while (start < chunk.length) {
      if (this.#isBetweenReplies) this.#isPush = chunk[start] === PUSH
      if (this.#owed[0] === 'cut its reply' && !this.#isPush) {
        this.#cutReply(chunk.subarray(0, start))
        return
      }
      const verdict = this.#owed[0]
      if (typeof verdict === 'object' && this.#isBetweenReplies && !this.#isPush) {
        this.#holdReply(chunk.subarray(0, start), chunk.subarray(start), verdict.holdReplyMs)
        return
      }
      const end = this.#replies.scan(chunk, start)
      this.#isBetweenReplies = end !== -1
      if (end === -1) break
      if (!this.#isPush) this.#owed.shift()
      start = end
    }
    if (!this.#client.write(chunk)) this.#upstream.pause()
    this.#cutIfDone()
  }

  /** The first byte of the reply is here, so Redis has done what was asked. What came before it is delivered. */
  #cutReply(before: Buffer): void {
    this.#isLast = true
    this.#upstream.pause()
    this.#client.write(before)
    this.#client.destroySoon() // Its 'close', when all is written, ends the other side too.
  }

  /** The same, but it is delivered late: what came before it now, it and all behind it then. */
  #holdReply(before: Buffer, held: Buffer, ms: number): void {
    this.#owed[0] = 'forward'
    this.#holds = true
    this.#upstream.pause()
    if (before.length > 0) this.#client.write(before)
    setTimeout(() => {
      this.#holds = false
      if (this.#upstream.destroyed) return
      this.#upstream.unshift(held)
      if (!this.#hangs) this.#upstream.resume()
    }, ms).unref()
  }

  #cutIfDone(): void {
    if (this.#isLast && this.#owed.length === 0) this.#client.destroySoon()
  }
}

/** The type of a message that answers no command, in RESP3. */
const PUSH = '>'.charCodeAt(0)
