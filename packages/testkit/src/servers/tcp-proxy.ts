import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { freePort } from '../redis/redis-port.ts'
import { ProxyConnection, type Verdict } from './tcp-proxy-connection.ts'

export interface TcpProxyOptions {
  /** The Redis behind it: `redis.url`. */
  readonly target: string
}

/** A command as it passed. */
export interface ProxiedCommand {
  /** In capitals. */
  readonly name: string
  /** The first key: for EVAL, EVALSHA and FCALL the first of their keys, for others the first argument; '' when there is none. */
  readonly key: string
}

/** Says whether a command is meant. Its name, `command[0]`, is in capitals; the arguments are as they were sent. */
export type CommandMatch = (command: readonly string[]) => boolean

/** A fault that waits for its command. */
export interface ProxyFault {
  /** How often it has struck. */
  readonly count: number
  /** It strikes no more. */
  cancel(): void
}

/**
 * Puts a proxy before a Redis, to lose replies, cut connections and let them hang where a test wants it:
 * `await using proxy = await startTcpProxy({ target: redis.url })`, and the code under test is given `proxy.url`.
 */
export async function startTcpProxy({ target }: TcpProxyOptions): Promise<TcpProxy> {
  const proxy = new TcpProxy(new URL(target), await freePort())
  await proxy.up()
  return proxy
}

/**
 * A proxy on loopback that knows enough of Redis's protocol to tell commands and replies apart. What a connection that
 * subscribes is sent passes through; `cutReplyOf` is not for it.
 */
export class TcpProxy implements AsyncDisposable {
  /** The target's, with the proxy's port in it. */
  readonly url: string
  readonly port: number
  #target: { host: string; port: number }
  #judgeFirst: (command: readonly string[]) => Verdict = () => 'forward'
  readonly #connections = new Set<ProxyConnection>()
  readonly #faults = new Set<Fault>()
  #server: Server | undefined
  #hangs = false
  #commands: ProxiedCommand[] = []
  #commandCount = 0
  #roundTrips = 0
  #connectionCount = 0

  constructor(target: URL, port: number) {
    this.#target = { host: target.hostname, port: Number(target.port || REDIS_PORT) }
    this.port = port
    const url = new URL(target)
    url.host = `127.0.0.1:${port}`
    this.url = url.href
  }

  /** The last commands that came, oldest first; no more than 10 000 are kept. */
  get commands(): readonly ProxiedCommand[] {
    return this.#commands.slice(-COMMANDS_KEPT_MAX)
  }

  /** How many commands came, the handshakes of clients among them. */
  get commandCount(): number {
    return this.#commandCount
  }

  /**
   * How often a client has sent something while it was owed no reply: a pipeline counts once, however long it is, and
   * commands sent one behind the other without waiting do too. Exact for a connection that does one thing at a time,
   * with bursts of up to 64 KB, which arrive in one piece.
   */
  get roundTrips(): number {
    return this.#roundTrips
  }

  /** How many connections it has taken, to see a client come back. */
  get connectionCount(): number {
    return this.#connectionCount
  }

  /** Begins the counts and `commands` anew: after the handshakes, for example. */
  resetCounts(): void {
    this.#commands = []
    this.#commandCount = 0
    this.#roundTrips = 0
    this.#connectionCount = 0
  }

  /**
   * Lets the next matching command reach Redis and cuts the connection instead of delivering its reply, so that a
   * client that resends sends it twice. Replies to earlier commands are delivered; commands sent behind it on the same
   * connection may have reached Redis or not.
   */
  cutReplyOf(match: CommandMatch, options: { readonly times?: number } = {}): ProxyFault {
    return this.#addFault(new Fault('cut its reply', match, options.times ?? 1))
  }

  /** Cuts the connection when the next matching command comes, which does not reach Redis. Replies to earlier ones are delivered. */
  dropBefore(match: CommandMatch, options: { readonly times?: number } = {}): ProxyFault {
    return this.#addFault(new Fault('cut before it', match, options.times ?? 1))
  }

  /** Asks about every command, before any other fault, what is to be done with it. */
  judgeBy(judge: (command: readonly string[]) => Verdict): void {
    this.#judgeFirst = judge
  }

  /** New connections go to that Redis from now on, as after a fail-over; those that are open stay. */
  retarget(target: string): void {
    const { hostname, port } = new URL(target)
    this.#target = { host: hostname, port: Number(port || REDIS_PORT) }
  }

  /** From now on connections stay open, new ones are taken, and nothing passes: the network is silent, and nobody is told. */
  hang(): void {
    this.#hangs = true
    for (const connection of this.#connections) connection.hang()
  }

  /** Ends `hang()`. What was sent in the meantime passes now, even if its sender has given up, as a network delivers late. */
  flow(): void {
    this.#hangs = false
    for (const connection of this.#connections) connection.flow()
  }

  /** Cuts every connection at once. New ones are taken. */
  cutAll(): void {
    for (const connection of this.#connections) connection.cut()
  }

  /** Cuts every connection and refuses new ones, until `up()`. */
  async down(): Promise<void> {
    const server = this.#server
    if (!server) return
    this.#server = undefined
    server.close()
    this.cutAll()
    await once(server, 'close')
  }

  /** Takes connections again, on the same port. */
  async up(): Promise<void> {
    if (this.#server) return
    const server = createServer((socket) => this.#accept(socket))
    this.#server = server
    await once(server.listen(this.port, '127.0.0.1'), 'listening')
  }

  /** Cuts everything and closes. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.down()
  }

  #accept(socket: Socket): void {
    this.#connectionCount++
    const connection: ProxyConnection = new ProxyConnection(socket, this.#target, {
      onCommand: (command, beginsBurst) => this.#judge(command, beginsBurst),
      onClose: () => this.#connections.delete(connection),
    })
    this.#connections.add(connection)
    if (this.#hangs) connection.hang()
  }

  #judge([name = '', ...args]: string[], beginsBurst: boolean): Verdict {
    const command = [name.toUpperCase(), ...args]
    this.#note(command)
    if (beginsBurst) this.#roundTrips++
    const first = this.#judgeFirst(command)
    if (first !== 'forward') return first
    for (const fault of this.#faults) {
      if (!fault.strikes(command)) continue
      if (fault.isSpent) this.#faults.delete(fault)
      return fault.verdict
    }
    return 'forward'
  }

  #note(command: readonly string[]): void {
    this.#commandCount++
    this.#commands.push({ name: command[0]!, key: keyOf(command) })
    // Twice as many, so that throwing the old ones away costs little for each.
    if (this.#commands.length > 2 * COMMANDS_KEPT_MAX)
      this.#commands = this.#commands.slice(-COMMANDS_KEPT_MAX)
  }

  #addFault(fault: Fault): ProxyFault {
    this.#faults.add(fault)
    return {
      get count() {
        return fault.count
      },
      cancel: () => {
        this.#faults.delete(fault)
      },
    }
  }
}

const REDIS_PORT = 6379
const COMMANDS_KEPT_MAX = 10_000

class Fault {
  readonly verdict: Verdict
  readonly #match: CommandMatch
  readonly #times: number
  count = 0

  constructor(verdict: Verdict, match: CommandMatch, times: number) {
    this.verdict = verdict
    this.#match = match
    this.#times = times
  }

  get isSpent(): boolean {
    return this.count >= this.#times
  }

  strikes(command: readonly string[]): boolean {
    if (!this.#match(command)) return false
    this.count++
    return true
  }
}

const SCRIPT_CALLS = new Set(['EVAL', 'EVALSHA', 'EVAL_RO', 'EVALSHA_RO', 'FCALL', 'FCALL_RO'])

function keyOf([name, first, keyCount, firstKey]: readonly string[]): string {
  if (!SCRIPT_CALLS.has(name!)) return first ?? ''
  return Number(keyCount) > 0 ? (firstKey ?? '') : ''
}
