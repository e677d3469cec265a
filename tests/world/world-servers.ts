/** The Redis servers of a world, which go back in time, fail over and fill up, and the way of each worker to them. */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startRedis, startTcpProxy, type TcpProxy, type Verdict } from '@webloom/testkit'
import type { Role, WorldPlan } from './world-plan.ts'

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
  /** The queue of the second spider, where it has one of its own. No fault of a role strikes it. */
  readonly #others: RedisServer | undefined
  readonly #replicas = new Map<RedisServer, RedisServer>()
  readonly #all: RedisServer[]
  readonly #ways = new Set<WorkersWay>()
  /** One thing at a time happens to them. */
  #happening: Promise<void> = Promise.resolve()

  private constructor(servers: Record<Role, RedisServer>, others: RedisServer | undefined) {
    this.#servers = servers
    this.#others = others
    this.#all = [...new Set([...Object.values(servers), ...(others ? [others] : [])])]
  }

  static async start({ servers, hasOwnQueue }: WorldPlan): Promise<WorldServers> {
    const queue = await startRedis(SERVER)
    const filter = servers === 1 ? queue : await startRedis(SERVER)
    return new WorldServers({ queue, filter }, hasOwnQueue ? await startRedis(SERVER) : undefined)
  }

  of(role: Role): RedisServer {
    return this.#servers[role]
  }

  queueOf(spider: string): RedisServer {
    return (spider === 'others' && this.#others) || this.#servers.queue
  }

  /** Those that are in use. */
  get current(): RedisServer[] {
    return [...new Set([...Object.values(this.#servers), ...(this.#others ? [this.#others] : [])])]
  }

  /** A worker's own proxies, whose every command is judged. */
  async wayOf(spider: string, judge: (command: readonly string[]) => Verdict): Promise<WorkersWay> {
    const queue = this.queueOf(spider)
    const way = new WorkersWay(
      {
        queue: await startTcpProxy({ target: queue.url }),
        filter: await startTcpProxy({ target: this.#servers.filter.url }),
      },
      queue === this.#others ? ['filter'] : ROLES,
    )
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
      // Waits: between two looks.
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
      // Waits: so much is lost.
      await sleep(byMs)
      await server.setBack()
    })
  }

  restart(role: Role | 'all', downMs: number): Promise<void> {
    return this.#next(async () => {
      const servers = role === 'all' ? this.current : [this.#servers[role]]
      await Promise.all(servers.map((server) => server.kill()))
      // Waits: so long the servers are away.
      await sleep(downMs)
      await Promise.all(servers.map((server) => server.restart()))
    })
  }

  fill(role: Role, ms: number): Promise<void> {
    return this.#next(async () => {
      const server = this.#servers[role]
      await server.command('CONFIG', 'SET', 'maxmemory', '1')
      // Waits: so long the server is full.
      await sleep(ms)
      await server.command('CONFIG', 'SET', 'maxmemory', '0')
    })
  }

  refuse(role: Role, ms: number): Promise<void> {
    return this.#next(async () => {
      const server = this.#servers[role]
      await server.command('CONFIG', 'SET', 'min-replicas-to-write', '1')
      // Waits: so long the server lacks its replica.
      await sleep(ms)
      await server.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
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
    // Waits: so far the replica is behind.
    await sleep(lagMs)
    for (const one of ROLES) {
      if (this.#servers[one] !== master) continue
      this.#servers[one] = replica
      for (const way of this.#ways) if (way.roles.includes(one)) way.proxies[one].retarget(replica.url)
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

  /** Those whose servers are the roles' own. */
  readonly roles: readonly Role[]

  constructor(proxies: Record<Role, TcpProxy>, roles: readonly Role[]) {
    this.proxies = proxies
    this.roles = roles
  }

  judgeBy(judge: (command: readonly string[]) => Verdict): void {
    for (const role of ROLES) this.proxies[role].judgeBy(judge)
  }

  async silence(ms: number): Promise<void> {
    for (const role of ROLES) this.proxies[role].hang()
    // Waits: so long the servers hang.
    await sleep(ms)
    for (const role of ROLES) this.proxies[role].flow()
  }

  async close(): Promise<void> {
    await Promise.all(ROLES.map((role) => this.proxies[role].down()))
  }
}
