/**
 * A Redis that is kept up by Sentinels: a master, replicas, and Sentinels that make a replica the master when it is gone.
 *
 * The files of the Sentinels say from the start who there is, so that nobody waits for them to find each other.
 */

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type StartedProcess, startProcess } from '../processes/run-process.ts'
import { type TempDir, tempDir } from '../processes/temp-dir.ts'
import { askRedis } from './redis-ask.ts'
import { Guard, shellQuoted } from './redis-guard.ts'
import type { RedisConfig } from './redis-home.ts'
import { RedisMissing } from './redis-install.ts'
import { freePort } from './redis-port.ts'
import { findRedis } from './redis-program.ts'
import { untilFollowed } from './redis-replicas.ts'
import { type RedisServer, type StartRedisOptions, startRedis } from './redis-server.ts'
import { type RedisTlsFiles, tlsConfig } from './redis-tls.ts'

export interface StartSentinelsOptions {
  /** Default 2. */
  readonly replicas?: number
  /** Default 3. Most of them must agree that the master is gone. */
  readonly sentinels?: number
  /** How long a master is silent when it counts as gone. Default 3000. */
  readonly downAfterMs?: number
  /** Of the Redis servers; replicas know it, too. */
  readonly password?: string
  /** Of the Sentinels. */
  readonly sentinelPassword?: string
  /** With it servers and Sentinels speak TLS among one another and at ports of their own, which `url` names; tests' commands go without. */
  readonly tls?: RedisTlsFiles
  /** Any further settings of the Redis servers. */
  readonly config?: StartRedisOptions['config']
}

/** What the Sentinels call the master. */
const NAME = 'crawls'
const HOST = '127.0.0.1'
const POLL_MS = 20
const READY_MS_MAX = 15_000

/**
 * Starts them on free loopback ports: `await using trio = await startSentinels()`. Resolves when the master takes writes, which it does
 * only while a replica is there (`min-replicas-to-write 1`, `min-replicas-max-lag 1`). Needs a `redis-server` in PATH.
 */
export async function startSentinels(options: StartSentinelsOptions = {}): Promise<SentinelRedis> {
  const program = await findRedis()
  if (program?.kind !== 'binary') throw new RedisMissing(['Sentinels need a redis-server in PATH'])
  const { replicas = 2, sentinels = 3, downAfterMs = 3000, password, sentinelPassword, tls } = options
  const tlsPorts = tls && (await Promise.all(Array.from({ length: 1 + replicas }, () => freePort())))
  const started: RedisServer[] = []
  const watchers: Sentinel[] = []
  try {
    const servers = Array.from({ length: 1 + replicas }, (_, n) =>
      startRedis(serverOptions(options, tlsPorts?.[n])),
    )
    for (const one of await Promise.allSettled(servers))
      if (one.status === 'fulfilled') started.push(one.value)
    await Promise.all(servers)
    const [, ...others] = started as [RedisServer, ...RedisServer[]]
    const [first, ...otherPorts] = (tlsPorts ?? started.map(({ port }) => port)) as [number, ...number[]]
    // At once, where a replica by its settings would wait for the next second.
    await Promise.all(others.map((replica) => replica.command('REPLICAOF', HOST, first)))
    const known = await Promise.all(Array.from({ length: sentinels }, newIdentity))
    const settings = known.map(({ id, port, tlsPort }) => ({
      port,
      config: [
        `port ${port}`,
        ...(tls ? configLines({ ...tlsConfig(tls, tlsPort), 'tls-replication': 'yes' }) : []),
        `bind ${HOST}`,
        `sentinel myid ${id}`,
        ...(sentinelPassword === undefined ? [] : [`requirepass ${sentinelPassword}`]),
        `sentinel monitor ${NAME} ${HOST} ${first} ${Math.floor(sentinels / 2) + 1}`,
        `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
        `sentinel failover-timeout ${NAME} ${3 * downAfterMs}`,
        `sentinel parallel-syncs ${NAME} ${replicas}`,
        ...(password === undefined ? [] : [`sentinel auth-pass ${NAME} ${password}`]),
        ...otherPorts.map((port) => `sentinel known-replica ${NAME} ${HOST} ${port}`),
        ...known
          .filter((other) => other.id !== id)
          .map(
            (other) =>
              `sentinel known-sentinel ${NAME} ${HOST} ${tls ? other.tlsPort : other.port} ${other.id}`,
          ),
      ],
    }))
    const starting = settings.map(({ port, config }) =>
      Sentinel.start(program.path, port, config, sentinelPassword),
    )
    for (const one of await Promise.allSettled(starting))
      if (one.status === 'fulfilled') watchers.push(one.value)
    await Promise.all(starting)
    const ports = tls && { servers: tlsPorts!, sentinels: known.map(({ tlsPort }) => tlsPort) }
    const redis = new SentinelRedis(started, watchers, password, ports)
    const master = await redis.untilWritable()
    const followers = started.filter((server) => server !== master)
    await untilFollowed(master, followers, READY_MS_MAX)
    return redis
  } catch (error) {
    await stopAll([...started, ...watchers])
    throw error
  }
}

/** The servers and their Sentinels, in the test's hands. */
export class SentinelRedis {
  /** The first was the master at the start. */
  readonly servers: readonly RedisServer[]
  readonly sentinels: readonly Sentinel[]
  /** `redis+sentinel://host:port,host:port/name`, with the servers' password, if there is one. */
  readonly url: string
  /** By which the Sentinels know the servers. */
  readonly #ports: readonly number[]

  /** @param tlsPorts where TLS is spoken */
  constructor(
    servers: readonly RedisServer[],
    sentinels: readonly Sentinel[],
    password: string | undefined,
    tlsPorts?: { readonly servers: readonly number[]; readonly sentinels: readonly number[] },
  ) {
    this.servers = servers
    this.sentinels = sentinels
    this.#ports = tlsPorts?.servers ?? servers.map(({ port }) => port)
    const login = password === undefined ? '' : `:${encodeURIComponent(password)}@`
    const places = (tlsPorts?.sentinels ?? sentinels.map(({ port }) => port)).map((port) => `${HOST}:${port}`)
    this.url = `${tlsPorts ? 'rediss' : 'redis'}+sentinel://${login}${places.join(',')}/${NAME}`
  }

  /** The server that takes writes at this moment, by its own word; undefined while there is none. */
  async master(): Promise<RedisServer | undefined> {
    const roles = await Promise.all(this.servers.map((server) => roleOf(server)))
    return this.servers.find((_server, n) => roles[n] === 'master')
  }

  /** Resolves with the master once one takes writes, and the Sentinels lead to it: not to `but`. */
  async untilWritable(but?: RedisServer): Promise<RedisServer> {
    const until = performance.now() + READY_MS_MAX
    while (performance.now() < until) {
      const told = await this.#toldPort()
      const master = this.servers.find((server, n) => server !== but && this.#ports[n] === told)
      if (master && (await takesWrites(master))) return master
      await sleep(POLL_MS) // Neither Redis nor a Sentinel tells of all that must be.
    }
    throw new Error(`no master took writes for ${READY_MS_MAX} ms`)
  }

  async #toldPort(): Promise<number | undefined> {
    const told = await Promise.allSettled(
      this.sentinels.map((sentinel) => sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)),
    )
    const ports = told.map((one) =>
      one.status === 'fulfilled' && Array.isArray(one.value) ? Number(one.value[1]) : undefined,
    )
    return ports.every((port) => port === ports[0]) ? ports[0] : undefined
  }

  /** Ends them all and deletes their files. The same as disposing of it. */
  stop(): Promise<void> {
    return stopAll([...this.sentinels, ...this.servers])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/** One Sentinel. Nothing of it outlives this process. */
export class Sentinel {
  readonly port: number
  readonly #process: StartedProcess
  readonly #folder: TempDir
  readonly #guard: Guard
  readonly #password: { password?: string }

  private constructor(port: number, process: StartedProcess, folder: TempDir, password: string | undefined) {
    this.port = port
    this.#process = process
    this.#folder = folder
    this.#password = password === undefined ? {} : { password }
    this.#guard = new Guard()
    this.#guard.onEnd(`kill -9 ${process.pid}; rm -rf -- ${shellQuoted(folder.path)}`)
  }

  static async start(
    path: string,
    port: number,
    config: readonly string[],
    password: string | undefined,
  ): Promise<Sentinel> {
    const folder = await tempDir('webloom-sentinel-')
    await writeFile(folder.join('sentinel.conf'), `dir ${folder.path}\n${config.join('\n')}\n`)
    const process = startProcess(path, [folder.join('sentinel.conf'), '--sentinel'], {
      timeoutMs: 2 ** 31 - 1,
    })
    const sentinel = new Sentinel(port, process, folder, password)
    try {
      await process.waitForOutput(/Sentinel ID is/, READY_MS_MAX)
      return sentinel
    } catch (error) {
      await sentinel.stop()
      throw error
    }
  }

  /** What it has logged. */
  get log(): string {
    return this.#process.stdout
  }

  command(...command: readonly string[]) {
    return askRedis({ host: HOST, port: this.port, ...this.#password }, command, READY_MS_MAX)
  }

  /** Stops it with SIGSTOP: it accepts connections, and answers nothing until `resume()`. */
  pause(): void {
    this.#process.kill('SIGSTOP')
  }

  resume(): void {
    this.#process.kill('SIGCONT')
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#process.exited.catch(() => {})
    this.#guard.dismiss()
    await this.#folder.remove()
  }
}

function serverOptions(
  { password, tls, config }: StartSentinelsOptions,
  tlsPort: number | undefined,
): StartRedisOptions {
  return {
    appendonly: 'everysec',
    ...(password !== undefined && { password }),
    config: {
      'min-replicas-to-write': '1',
      'min-replicas-max-lag': '1',
      // Of five seconds, in which more replicas might ask.
      'repl-diskless-sync-delay': '0',
      ...(password !== undefined && { masterauth: password }),
      ...(tls && { ...tlsConfig(tls, tlsPort!), 'tls-replication': 'yes' }),
      ...config,
    },
  }
}

async function newIdentity(): Promise<{ id: string; port: number; tlsPort: number }> {
  return { id: randomBytes(20).toString('hex'), port: await freePort(), tlsPort: await freePort() }
}

function configLines(config: RedisConfig): string[] {
  return Object.entries(config).map(([name, value]) => `${name} ${value}`)
}

async function roleOf(server: RedisServer): Promise<unknown> {
  const role = await server.command('ROLE').catch(() => undefined)
  return Array.isArray(role) ? String(role[0]) : undefined
}

async function takesWrites(server: RedisServer): Promise<boolean> {
  return server.command('DEL', 'webloom-testkit').then(
    () => true,
    () => false,
  )
}

async function stopAll(parts: readonly { stop(): Promise<void> }[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop()))
}
