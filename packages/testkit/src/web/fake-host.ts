import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressOf } from '../graph/urls.ts'

interface FakeHostEvents {
  connection: [socket: Socket]
  request: [request: IncomingMessage, response: ServerResponse]
}

/** One host of the web: a listener at its own address, which can go down and come back at the same port. */
export class FakeHost extends EventEmitter<FakeHostEvents> {
  readonly #address: string
  readonly #keepAliveTimeoutMs: number
  /** 0 until a free port was found. */
  #port: number
  #server: Server | undefined

  constructor({
    host,
    port,
    keepAliveTimeoutMs,
  }: { host: number; port: number; keepAliveTimeoutMs: number }) {
    super()
    this.#address = addressOf(host)
    this.#port = port
    this.#keepAliveTimeoutMs = keepAliveTimeoutMs
  }

  get origin(): string {
    return `http://${this.#address}:${this.#port}`
  }

  async up(): Promise<void> {
    if (this.#server !== undefined) return
    this.#server = createServer({ keepAliveTimeout: this.#keepAliveTimeoutMs })
    this.#server.on('connection', (socket: Socket) => this.emit('connection', socket))
    this.#server.on('request', (request, response) => this.emit('request', request, response))
    this.#port = await listen(this.#server, this.#port, this.#address)
  }

  /** Cuts its connections; from now on new ones are refused. */
  async down(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (!server?.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
}

/** A port that was ours a moment ago may be taken for an instant by somebody's outgoing connection. */
const LISTEN_TRIES = 20
const LISTEN_PAUSE_MS = 50

async function listen(server: Server, port: number, address: string): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      server.listen({ port, host: address })
      await once(server, 'listening')
      return (server.address() as AddressInfo).port
    } catch (error) {
      const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
      if (!taken || tries === LISTEN_TRIES) {
        throw new Error(`fake web: cannot listen on ${address}:${port}`, { cause: error })
      }
      await sleep(LISTEN_PAUSE_MS)
    }
  }
}
