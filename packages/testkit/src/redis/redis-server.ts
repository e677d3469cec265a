import type { StartedProcess } from '../processes/run-process.ts'
import { askRedis } from './redis-ask.ts'
import { makeRedisHome, type RedisConfig, type RedisHome } from './redis-home.ts'
import { RedisMissing } from './redis-install.ts'
import { freePort } from './redis-port.ts'
import { findRedis } from './redis-program.ts'
import type { RedisReply } from './redis-resp.ts'

export interface StartRedisOptions {
  /** Keeps an append-only file, written through after every command or every second. Without it a restart is empty. */
  readonly appendonly?: 'always' | 'everysec'
  /** As Redis writes it: `64mb`. */
  readonly maxmemory?: string
  /** Default `noeviction`, as a queue needs it. */
  readonly maxmemoryPolicy?: string
  readonly password?: string
  /** Any further settings of redis.conf: `{ databases: '1' }`. */
  readonly config?: Readonly<Record<string, string>>
  /** For the start and each restart, which may have a long file to load. Default 15 000. */
  readonly startTimeoutMs?: number
}

/**
 * Starts a real Redis on a free loopback port, with a folder of its own: `await using redis = await startRedis()`.
 * It saves nothing unless asked to, and does not outlive this process. It installs nothing: `ensureRedisServer` does.
 */
export async function startRedis(options: StartRedisOptions = {}): Promise<RedisServer> {
  const program = await findRedis()
  if (!program) throw new RedisMissing()
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const redis = new RedisServer(options, { port, home: await makeRedisHome(program, port) })
    try {
      await redis.restart()
      return redis
    } catch (error) {
      await redis.stop()
      // Somebody took the port after we had found it free.
      if (attempt === START_ATTEMPTS_MAX || !/already (in use|allocated)/.test(String(error))) throw error
    }
  }
}

/** A Redis server in the test's hands. */
export class RedisServer {
  readonly host = '127.0.0.1'
  readonly port: number
  /** With the password, if there is one. */
  readonly url: string
  readonly #password: { password?: string }
  readonly #config: RedisConfig
  readonly #startTimeoutMs: number
  readonly #home: RedisHome
  #running: { process: StartedProcess; pid?: number } | undefined

  constructor(options: StartRedisOptions, { port, home }: { port: number; home: RedisHome }) {
    const { password, startTimeoutMs = START_TIMEOUT_MS } = options
    this.#config = configOf(options)
    this.#startTimeoutMs = startTimeoutMs
    this.#home = home
    this.#password = password === undefined ? {} : { password }
    this.port = port
    const login = password === undefined ? '' : `:${encodeURIComponent(password)}@`
    this.url = `redis://${login}${this.host}:${port}`
  }

  /** Of the server that runs now; a restart changes it. */
  get pid(): number {
    if (this.#running?.pid === undefined)
      throw new Error(`Redis on port ${this.port} does not run; restart() starts it`)
    return this.#running.pid
  }

  /** What it has logged since its last start. */
  get log(): string {
    return this.#running?.process.stdout ?? ''
  }

  /** Sends a command and resolves with the reply: `await redis.command('SCARD', 'quotes:dupefilter')`. */
  command(...command: readonly (string | number | Buffer)[]): Promise<RedisReply> {
    return askRedis({ host: this.host, port: this.port, ...this.#password }, command)
  }

  /**
   * Ends the server at once, as a crash does; SIGTERM lets it write what it has. Resolves when it is gone. Its files
   * and its port stay for `restart()`.
   */
  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const running = this.#running
    if (!running) return
    this.#running = undefined
    if (signal === 'SIGTERM') await this.#home.signal('SIGCONT') // A paused server does not see it.
    await this.#home.signal(signal)
    const timer = setTimeout(() => this.#home.signal('SIGKILL'), TERM_TIMEOUT_MS)
    await running.process.exited.finally(() => clearTimeout(timer))
  }

  /**
   * Starts it again, on the same port and with its files: after `kill()`, or after ending it politely. Resolves when
   * it answers.
   */
  async restart(): Promise<void> {
    await this.kill('SIGTERM')
    const started = this.#home.start(this.#config)
    const running: { process: StartedProcess; pid?: number } = { process: started }
    this.#running = running
    await started.waitForOutput(/Ready to accept connections/, this.#startTimeoutMs)
    await this.command('PING')
    running.pid = await this.#home.pid()
  }

  /** Keeps a copy of its append-only file as it is now, for `setBack()`. */
  remember(): Promise<void> {
    return this.#home.copyAppendOnly()
  }

  /** Kills it and starts it with what `remember()` has kept: to its clients it comes back so much older. */
  async setBack(): Promise<void> {
    await this.kill()
    await this.#home.putCopyBack()
    await this.restart()
  }

  /** Stops it with SIGSTOP: connections stay open and new ones are taken, and nothing is answered until `resume()`. */
  pause(): Promise<void> {
    return this.#home.signal('SIGSTOP')
  }

  resume(): Promise<void> {
    return this.#home.signal('SIGCONT')
  }

  /** Ends it for good and deletes its files. The same as disposing of it. */
  async stop(): Promise<void> {
    await this.kill()
    await this.#home.remove()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

const START_ATTEMPTS_MAX = 5
const START_TIMEOUT_MS = 15_000
/** How long a polite end may take before it becomes a kill. */
const TERM_TIMEOUT_MS = 10_000

function configOf({
  appendonly,
  maxmemory,
  maxmemoryPolicy,
  password,
  config,
}: StartRedisOptions): RedisConfig {
  return {
    save: '',
    'maxmemory-policy': maxmemoryPolicy ?? 'noeviction',
    ...(appendonly && { appendonly: 'yes', appendfsync: appendonly }),
    ...(maxmemory !== undefined && { maxmemory }),
    ...(password !== undefined && { requirepass: password }),
    ...config,
  }
}
