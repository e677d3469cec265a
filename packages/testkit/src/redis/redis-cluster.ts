/** A Redis Cluster: masters that share the 16 384 slots, each with as many replicas. */

import { setTimeout as sleep } from 'node:timers/promises'
import { RedisMissing } from './redis-install.ts'
import { freePort } from './redis-port.ts'
import { findRedis } from './redis-program.ts'
import { untilFollowed } from './redis-replicas.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { type RedisTlsFiles, tlsConfig } from './redis-tls.ts'

export interface StartClusterOptions {
  /** Default 3, the least that can agree that one is gone. */
  readonly masters?: number
  /** Of each master. Default 0. */
  readonly replicas?: number
  /** So many of its replicas must be there when a master takes writes (`min-replicas-to-write`). Default 0. */
  readonly minReplicas?: number
  /** How long a node is silent when it counts as gone. Default 3000. */
  readonly nodeTimeoutMs?: number
  readonly password?: string
  /** With it nodes speak TLS among one another and at ports of their own, which `url` names; tests' commands go without. */
  readonly tls?: RedisTlsFiles
}

const HOST = '127.0.0.1'
const SLOTS = 16_384
const POLL_MS = 20
/** The nodes tell each other ten times a second, and nobody else; to answer costs each of them more than to wait. */
const WELL_POLL_MS = 100
const READY_MS_MAX = 20_000
const MAX_KEYS_PER_MOVE = 100
const MOVE_MS_MAX = 5000
const NODE_TIMEOUT_MS = 3000
/** When no replica was elected, one stands again after so many of the nodes' timeouts. */
const ELECTION_AGAIN_TIMEOUTS = 4

/**
 * Starts them on free loopback ports: `await using cluster = await startCluster({ replicas: 1 })`. Resolves when all nodes say that the
 * cluster is well. With one replica each and `minReplicas` 1, a replica that has become the master takes writes only when the
 * old master is there again as its replica. Needs a `redis-server` of version 7 in PATH.
 */
export async function startCluster(options: StartClusterOptions = {}): Promise<RedisCluster> {
  const program = await findRedis()
  if (program?.kind !== 'binary') throw new RedisMissing(['a cluster needs a redis-server in PATH'])
  const { masters = 3, replicas = 0 } = options
  const nodes: RedisServer[] = []
  try {
    const starting = Array.from({ length: masters * (1 + replicas) }, () => startNode(options))
    for (const one of await Promise.allSettled(starting))
      if (one.status === 'fulfilled') nodes.push(one.value.server)
    const ports = new Map((await Promise.all(starting)).map(({ server, ...own }) => [server, own]))
    const cluster = new RedisCluster(nodes, ports, options)
    await cluster.form(masters)
    return cluster
  } catch (error) {
    await Promise.all(nodes.map((node) => node.stop()))
    throw error
  }
}

/** Where a node is found by the others. */
interface NodePorts {
  readonly bus: number
  readonly tls?: number
}

/** The nodes, in the test's hands. */
export class RedisCluster {
  /** The masters of the start, then their replicas. */
  readonly nodes: readonly RedisServer[]
  /** `redis+cluster://host:port,host:port`, with the password, if there is one. */
  readonly url: string
  readonly #ports: ReadonlyMap<RedisServer, NodePorts>
  readonly #password: string | undefined
  readonly #nodeTimeoutMs: number

  constructor(
    nodes: readonly RedisServer[],
    ports: ReadonlyMap<RedisServer, NodePorts>,
    { password, nodeTimeoutMs = NODE_TIMEOUT_MS }: Pick<StartClusterOptions, 'password' | 'nodeTimeoutMs'>,
  ) {
    this.nodes = nodes
    this.#nodeTimeoutMs = nodeTimeoutMs
    this.#ports = ports
    this.#password = password
    const login = password === undefined ? '' : `:${encodeURIComponent(password)}@`
    const scheme = [...ports.values()].some(({ tls }) => tls !== undefined) ? 'rediss' : 'redis'
    this.url = `${scheme}+cluster://${login}${nodes.map((node) => `${HOST}:${this.#portOf(node)}`).join(',')}`
  }

  /** The one by which others know it. */
  #portOf(node: RedisServer): number {
    return this.#ports.get(node)?.tls ?? node.port
  }

  /** Makes a cluster of nodes that know nobody. */
  async form(masters: number): Promise<void> {
    const [first, ...others] = this.nodes as [RedisServer, ...RedisServer[]]
    const slot = (n: number) => Math.round((n * SLOTS) / masters)
    await Promise.all([
      ...this.nodes
        .slice(0, masters)
        .map((node, n) => node.command('CLUSTER', 'ADDSLOTSRANGE', slot(n), slot(n + 1) - 1)),
      ...others.map((node, n) => node.command('CLUSTER', 'SET-CONFIG-EPOCH', n + 2)),
      ...others.map((node) =>
        first.command('CLUSTER', 'MEET', HOST, this.#portOf(node), this.#ports.get(node)!.bus),
      ),
    ])
    const ids = await Promise.all(this.nodes.slice(0, masters).map((node) => node.command('CLUSTER', 'MYID')))
    await Promise.all(this.nodes.slice(masters).map((node, n) => replicate(node, String(ids[n % masters]))))
    await this.untilWell()
    await Promise.all(
      this.nodes.slice(0, masters).map((master, n) => {
        const replicas = this.nodes.slice(masters).filter((_, m) => m % masters === n)
        return untilFollowed(master, replicas, READY_MS_MAX)
      }),
    )
  }

  /** The master that has the slot of a key at this moment, by the word of the nodes that answer. */
  async masterOf(key: string, but?: RedisServer): Promise<RedisServer | undefined> {
    for (const node of this.nodes) {
      if (node === but) continue
      const slots = await node.command('CLUSTER', 'SLOTS').catch(() => undefined)
      const wanted = await node.command('CLUSTER', 'KEYSLOT', key).catch(() => undefined)
      if (!Array.isArray(slots) || typeof wanted !== 'number') continue
      const range = (slots as [number, number, [string, number]][]).find(
        ([from, to]) => from <= wanted && wanted <= to,
      )
      return this.nodes.find(({ port }) => port === range?.[2][1])
    }
    return undefined
  }

  /** Resolves with the master of the key's slot once it takes writes: not with `but`. */
  async untilWritable(key: string, but?: RedisServer): Promise<RedisServer> {
    const msMax = READY_MS_MAX + ELECTION_AGAIN_TIMEOUTS * this.#nodeTimeoutMs
    const until = performance.now() + msMax
    while (performance.now() < until) {
      const master = await this.masterOf(key, but)
      // That one may be cut off, and its answer be long in coming.
      const other = master === but ? undefined : master
      const isWritten = await other?.command('DEL', key).then(
        () => true,
        () => false,
      )
      if (other && isWritten) return other
      await sleep(POLL_MS) // No node tells of all that must be.
    }
    throw new Error(`no master took writes to ${key} for ${msMax} ms`)
  }

  /** Moves the slot of a key to another master, as `redis-cli --cluster reshard` does. Resolves to how many ms its keys were on two servers. */
  async moveSlot(key: string, to: RedisServer): Promise<number> {
    const from = (await this.masterOf(key))!
    const slot = Number(await to.command('CLUSTER', 'KEYSLOT', key))
    const [source, target] = await Promise.all([from, to].map((node) => node.command('CLUSTER', 'MYID')))
    const login = this.#password === undefined ? [] : ['AUTH', this.#password]
    const begunAt = performance.now()
    await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(source))
    await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(target))
    for (;;) {
      const keys = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, MAX_KEYS_PER_MOVE)) as string[]
      if (keys.length === 0) break
      await from.command('MIGRATE', HOST, to.port, '', 0, MOVE_MS_MAX, ...login, 'KEYS', ...keys)
    }
    for (const node of [to, from]) await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', String(target))
    return performance.now() - begunAt
  }

  /** Resolves when each node knows all the others, and says that the cluster is well. */
  async untilWell(): Promise<void> {
    const until = performance.now() + READY_MS_MAX
    while (performance.now() < until) {
      const told = await Promise.all(
        this.nodes.map((node) => node.command('CLUSTER', 'INFO').catch(() => '')),
      )
      const isWell = told.every(
        (info) =>
          /cluster_state:ok/.test(String(info)) &&
          String(info).includes(`cluster_known_nodes:${this.nodes.length}`),
      )
      if (isWell && (await this.#takesWrites())) return
      await sleep(WELL_POLL_MS) // Nobody tells when all of them agree.
    }
    throw new Error(`the cluster was not well for ${READY_MS_MAX} ms`)
  }

  async #takesWrites(): Promise<boolean> {
    const replies = await Promise.all(
      this.nodes.map((node) => node.command('FLUSHALL').catch((error: Error) => error.message)),
    )
    return replies.every((reply) => !/^NOREPLICAS/.test(String(reply)))
  }

  /** Ends them all and deletes their files. The same as disposing of it. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

async function startNode({
  minReplicas = 0,
  nodeTimeoutMs = NODE_TIMEOUT_MS,
  password,
  tls,
}: StartClusterOptions) {
  // Ten thousand above the other one it might be one that the system gives to connections.
  const bus = await freePort()
  const tlsPort = tls && (await freePort())
  const server = await startRedis({
    appendonly: 'everysec',
    ...(password !== undefined && { password }),
    config: {
      'cluster-enabled': 'yes',
      'cluster-node-timeout': String(nodeTimeoutMs),
      'cluster-port': String(bus),
      'repl-diskless-sync-delay': '0',
      'min-replicas-to-write': String(minReplicas),
      'min-replicas-max-lag': '1',
      ...(password !== undefined && { masterauth: password }),
      ...(tls && { ...tlsConfig(tls, tlsPort!), 'tls-cluster': 'yes', 'tls-replication': 'yes' }),
    },
  })
  return { server, bus, ...(tlsPort !== undefined && { tls: tlsPort }) }
}

/** A node may follow another one as soon as it has heard of it. */
async function replicate(node: RedisServer, master: string): Promise<void> {
  const until = performance.now() + READY_MS_MAX
  for (;;) {
    try {
      await node.command('CLUSTER', 'REPLICATE', master)
      return
    } catch (error) {
      if (performance.now() > until || !/Unknown node/.test(String(error))) throw error
      await sleep(POLL_MS) // It is told by gossip.
    }
  }
}
