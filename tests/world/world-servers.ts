/** The Redis servers of a world, which go back in time, fail over and fill up, and the way of each worker to them. */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startRedis, startTcpProxy, type TcpProxy, type Verdict } from '@webloom/testkit'
import type { Role } from './world-plan.ts'

const ROLES: readonly Role[] = ['queue', 'filter']
const SYNC_MARK = 'world:sync'
const SYNC_MARK_MS = 60_000
/** A command that has been answered is in the file: what is lost is what the test takes away. */
const SERVER = {
  appendonly: 'everysec',
  config: { appendfsync: 'no', 'repl-diskless-sync-delay': '0' },
} as const

export class WorldServers implements AsyncDisposable {
  readonly #servers: Record<Role, RedisServer>
  readonly #replicas = new Map<RedisServer, RedisServer>()
  readonly #all: RedisServer[]
  readonly #ways = new Set<WorkersWay>()
  /** One thing at a time happens to them. */
  #happening: Promise<void> = Promise.resolve()

  private constructor(servers: Record<Role, RedisServer>) {
    this.#servers = servers
    this.#all = [...new Set(Object.values(servers))]
  }

  static async start(count: 1 | 2): Promise<WorldServers> {
    const queue = await startRedis(SERVER)
    return new WorldServers({ queue, filter: count === 1 ? queue : await startRedis(SERVER) })
  }

  of(role: Role): RedisServer {
    return this.#servers[role]
  }

  /** Those that are in use. */
  get current(): RedisServer[] {
    return [...new Set(Object.values(this.#servers))]
  }

  /** A worker's own proxies, whose every command is judged. */
  async wayOf(judge: (command: readonly string[]) => Verdict): Promise<WorkersWay> {
    const way = new WorkersWay({
      queue: await startTcpProxy({ target: this.#servers.queue.url }),
      filter: await startTcpProxy({ target: this.#servers.filter.url }),
    })
    way.judgeBy(judge)
    this.#ways.add(way)
    return way
  }

  /** Resolves when there is a replica that has all that its master has: one whose master has just come back begins anew. */
  async follow(role: Role): Promise<void> {
    const master = this.#servers[role]
    let replica = this.#replicas.get(master)
    if (!replica) {
      replica = await startRedis(SERVER)
      this.#all.push(replica)
      this.#replicas.set(master, replica)
      await replica.command('REPLICAOF', master.host, master.port)
    }
    // The mark is written by the master alone: what the replica says of its link may be older than the master's end.
    for (;;) {
      const mark = randomUUID() // One of before may stand in the replica already.
      await master.command('SET', SYNC_MARK, mark, 'PX', SYNC_MARK_MS)
      await sleep(10)
      if ((await replica.command('GET', SYNC_MARK)) === mark) return
    }
  }

  /** The replica hears no more of its master, and takes its place so much later. */
  promote(role: Role, lagMs: number): Promise<void> {
    return this.#next(() => this.#promote(role, lagMs))
  }

  setBack(role: Role, byMs: number): Promise<void> {
    return this.#next(async () => {
      const server = this.#servers[role]
      await server.remember()
      await sleep(byMs)
      await server.setBack()
    })
  }

  restart(role: Role | 'all', downMs: number): Promise<void> {
    return this.#next(async () => {
      const servers = role === 'all' ? this.current : [this.#servers[role]]
      await Promise.all(servers.map((server) => server.kill()))
      await sleep(downMs)
      await Promise.all(servers.map((server) => server.restart()))
    })
  }

  fill(role: Role, ms: number): Promise<void> {
    return this.#next(async () => {
      const server = this.#servers[role]
      await server.command('CONFIG', 'SET', 'maxmemory', '1')
      await sleep(ms)
      await server.command('CONFIG', 'SET', 'maxmemory', '0')
    })
  }

  #next(act: () => Promise<void>): Promise<void> {
    const acting = this.#happening.then(act)
    this.#happening = acting.catch(() => {})
    return acting
  }

  async #promote(role: Role, lagMs: number): Promise<void> {
    await this.follow(role)
    const master = this.#servers[role]
    const replica = this.#replicas.get(master)!
    await replica.command('REPLICAOF', 'NO', 'ONE')
    await sleep(lagMs)
    for (const one of ROLES) {
      if (this.#servers[one] !== master) continue
      this.#servers[one] = replica
      for (const way of this.#ways) way.proxies[one].retarget(replica.url)
    }
    await master.kill()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#ways].map((way) => way.close()))
    await Promise.all(this.#all.map((server) => server.stop()))
  }
}

/** One worker's connections: cut, hung and judged apart from all others. */
export class WorkersWay {
  readonly proxies: Readonly<Record<Role, TcpProxy>>

  constructor(proxies: Record<Role, TcpProxy>) {
    this.proxies = proxies
  }

  judgeBy(judge: (command: readonly string[]) => Verdict): void {
    for (const role of ROLES) this.proxies[role].judgeBy(judge)
  }

  async silence(ms: number): Promise<void> {
    for (const role of ROLES) this.proxies[role].hang()
    await sleep(ms)
    for (const role of ROLES) this.proxies[role].flow()
  }

  async close(): Promise<void> {
    await Promise.all(ROLES.map((role) => this.proxies[role].down()))
  }
}
