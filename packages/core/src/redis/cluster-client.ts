/**
 * A Redis Cluster, as all parts of a crawl know a connection: they send commands, and each goes to the server that has its
 * keys' slot. ioredis's client of a cluster differs from that of a server in what it tells. Here both tell the same:
 *
 *     error       a server is lost, or does not let us in. Commands for it wait
 *     ready       a connection to a server is made, also to one that has become the master of a slot
 *     waits       of a cluster: a command has been refused by a node that does not let us in, and is sent again; for so many ms
 *     duplicate   takes the options of a server's connection
 *
 * What asks a server about itself (`INFO`, `CONFIG`, `SCAN`) has no key, and goes to any of them: `mastersOf` has them one by one.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster, Command, Redis } from 'ioredis'
import { WebloomError } from '../errors/errors.ts'
import { CLOSED, isPassedOver, leaveLostNodes, placeOf } from './lost-nodes.ts'
import { endEachOnce, endListenersOnce } from './one-end.ts'
import { isLockedOut, isLoginReply, quietLogin } from './quiet-login.ts'
import { quietReadyCheck } from './quiet-ready-check.ts'
import type { ClientBehaviour, RedisClient, RedisOptions } from './redis-options.ts'
import { dropWhenUnanswered } from './silent-server.ts'

type ClusterClass = typeof import('ioredis').Cluster

/** How long a command waits until it is sent again, while a slot has no master or has just moved. */
const ASKED_AGAIN_MS = 50

/** @param tls as Node takes it */
export function newClusterClient(
  ClusterClient: ClusterClass,
  options: Pick<RedisOptions, 'nodes'>,
  behaviour: ClientBehaviour &
    Pick<RedisOptions, 'connectTimeout'> & { readonly tls?: Readonly<Record<string, unknown>> },
): RedisClient {
  const { lazyConnect, retryStrategy, maxRetriesPerRequest: _, ...ofEach } = behaviour
  const cluster = new ClusterClient([...options.nodes!], {
    ...(lazyConnect !== undefined && { lazyConnect }),
    clusterRetryStrategy: retryStrategy ?? (() => null),
    // A command waits for its server, as with a single one.
    maxRedirections: Number.POSITIVE_INFINITY,
    retryDelayOnMoved: ASKED_AGAIN_MS,
    retryDelayOnFailover: ASKED_AGAIN_MS,
    retryDelayOnClusterDown: ASKED_AGAIN_MS,
    retryDelayOnTryAgain: ASKED_AGAIN_MS,
    // A certificate names its host, and has to be asked for by that name.
    ...(behaviour.tls && { dnsLookup: (host, found) => found(null, host) }),
    redisOptions: ofEach,
  })
  const tell = (event: 'error' | 'ready', error?: Error) => {
    // An error that nobody listens for would be thrown.
    if (cluster.listenerCount(event) > 0) cluster.emit(event, error)
  }
  cluster.on('node error', (error: Error, node: string) => {
    if (!isPassedOver(error)) tell('error', Object.assign(error, { node }))
  })
  leaveLostNodes(cluster)
  cluster.on('+node', (node) => {
    endEachOnce(node)
    quietReadyCheck(node)
    // Who has sent something is told of the cluster alone.
    quietLogin(node, (error) => {
      Object.assign(error, { node: placeOf(node) })
      void behaviour.reconnectOnError?.(error)
    })
    quietDuplicates(node)
    dropWhenUnanswered(node, behaviour.connectTimeout)
    node.on('ready', () => {
      if (cluster.status === 'ready') tell('ready')
    })
  })
  endListenersOnce(cluster)
  connectUntilReady(cluster)
  cluster.on('end', () => ENDED.add(cluster)).on('connecting', () => ENDED.delete(cluster))
  waitForLogin(cluster, (error) => behaviour.reconnectOnError?.(error) === 2)
  const duplicate = (more: ClientBehaviour = {}) =>
    newClusterClient(ClusterClient, options, { ...behaviour, ...more })
  // What of a connection's methods a cluster has otherwise is named above.
  return Object.assign(cluster, { duplicate }) as unknown as RedisClient
}

/** As ioredis's client has it; the type keeps it from us. */
interface Closing {
  /** Connects again later, or is ended where it was told to be. */
  handleCloseEvent(): void
}

/**
 * Has who asks to connect, and who asks to end, hear of it. In these cases ioredis tells nobody:
 * https://github.com/redis/ioredis/blob/main/lib/cluster/index.ts
 *
 *     the cluster is found, and does not say       it connects anew, as long as it takes, and forgets who waits for `connect()`
 *     that it is well
 *     names of servers are looked up, and a        it takes that for the last one it had, and itself for closed: it connects no more
 *     connection of before is only now closed
 *     it is ended between two tries                it tries no more, and does not say `end`
 */
function connectUntilReady(cluster: Cluster): void {
  const closing = cluster as unknown as Closing
  const connect = cluster.connect.bind(cluster)
  const disconnect = cluster.disconnect.bind(cluster)
  const quit = cluster.quit.bind(cluster)
  let isWanted = false
  let outcome: Promise<void> | undefined
  const outcomeOf = () =>
    new Promise<void>((resolve, reject) => {
      const over = () => {
        cluster.off('ready', ready).off('end', ended)
        outcome = undefined
      }
      const ready = () => {
        over()
        resolve()
      }
      const ended = () => {
        over()
        reject(new Error(CLOSED))
      }
      cluster.on('ready', ready).on('end', ended)
    })
  const connecting = () =>
    connect().catch(async (error: Error) => {
      if (cluster.status !== 'close') throw error
      await sleep(ASKED_AGAIN_MS)
      if (!isWanted || cluster.status !== 'close') throw error
      return cluster.connect()
    })
  cluster.connect = () => {
    isWanted = true
    const tried = connecting()
    // Each try comes by here, and all have the same outcome.
    outcome ??= outcomeOf()
    return Promise.race([tried, outcome])
  }
  cluster.disconnect = (reconnect = false) => {
    isWanted = reconnect
    const isBetween = cluster.status === 'reconnecting' || cluster.status === 'close'
    disconnect(reconnect)
    if (isBetween && !reconnect) closing.handleCloseEvent()
  }
  cluster.quit = (...told) => {
    isWanted = false
    return quit(...told)
  }
}

/** A node is asked for the slots by a connection of its own. */
function quietDuplicates(node: Redis): void {
  const duplicate = node.duplicate.bind(node)
  node.duplicate = (...given) => {
    const made = duplicate(...given)
    quietLogin(made)
    return made
  }
}

/** Their status need not say so: each node that goes after the last one makes it `close` again. */
const ENDED = new WeakSet<Cluster>()

/** As ioredis's client has it; the type keeps it from us. */
interface Handling {
  /** @param left an object of that command alone */
  handleError(error: Error, left: object, ...more: unknown[]): void
}

/** Without a connection to its server a command goes to any node; once slots are known anew, and each node is connected to, it does not. */
const REFUSED_TRIES_MAX = 4

/**
 * Has commands wait for a node that does not let us in, as for one that is away. Nodes are not all of them: one more connection listens. Who does not
 * wait is refused, but not by a node that has nothing to do with it.
 */
function waitForLogin(cluster: Cluster, waits: (error: Error) => boolean): void {
  const handling = cluster as unknown as Handling
  const handle = handling.handleError.bind(cluster)
  const firstAtMs = new WeakMap<object, number>()
  const triesOf = new WeakMap<object, number>()
  handling.handleError = (error, left, ...more) => {
    if (!isLoginReply(error) && !isLockedOut(error)) return handle(error, left, ...more)
    if (!isLoginReply(error) || !waits(error)) {
      const tries = (triesOf.get(left) ?? 0) + 1
      triesOf.set(left, tries)
      return handle(tries < REFUSED_TRIES_MAX ? new Error(CLOSED) : error, left, ...more)
    }
    const nowMs = performance.now()
    const sinceMs = firstAtMs.get(left) ?? nowMs
    firstAtMs.set(left, sinceMs)
    cluster.emit('waits', nowMs - sinceMs)
    handle(new Error(CLOSED), left, ...more)
  }
}

/** Returns whether it has been ended, and has not been told to connect again. Of a cluster's client the status may say otherwise. */
export function isEnded(redis: RedisClient): boolean {
  return redis.status === 'end' || ENDED.has(redis as unknown as Cluster)
}

function clusterOf(redis: RedisClient): Cluster | undefined {
  return redis.isCluster ? (redis as unknown as Cluster) : undefined
}

/** Returns the servers that are asked one by one: all masters of a cluster, else the one server. */
export function mastersOf(redis: RedisClient): readonly RedisClient[] {
  return clusterOf(redis)?.nodes('master') ?? [redis]
}

/**
 * Resolves to the masters, as `mastersOf` has them, once a cluster's client knows one for each slot; to undefined while it does not. It drops a
 * connection that is lost, and makes another one only after it has asked for the slots again.
 */
export async function allMastersOf(redis: RedisClient): Promise<readonly RedisClient[] | undefined> {
  const cluster = clusterOf(redis)
  if (cluster && !hasAllMasters(cluster)) {
    await new Promise<void>((resolve) => cluster.refreshSlotsCache(() => resolve()))
    if (!hasAllMasters(cluster)) return undefined
  }
  return mastersOf(redis)
}

/**
 * Resolves to what each master answers. A question to one of a cluster's servers is not sent again when its connection is lost, as a command
 * with a key is: then all are asked again, and that master, or the one that has taken its place, is waited for. What it refuses rejects.
 *
 * @param ask is called again, so it may be answered twice
 * @param msMax how long one is waited for; then WL_REDIS_UNREACHABLE. Default: as long as the connection is open, for callers with a deadline
 */
export async function askMasters<T>(
  redis: RedisClient,
  ask: (master: RedisClient) => Promise<T>,
  msMax = Number.POSITIVE_INFINITY,
): Promise<readonly T[]> {
  const cluster = clusterOf(redis)
  if (!cluster) return [await ask(redis)]
  // It knows no master before.
  if (redis.status === 'wait') redis.connect().catch(() => {})
  let missedAtMs: number | undefined
  for (;;) {
    try {
      if (await knowsMasters(cluster)) return await Promise.all(mastersOf(redis).map(ask))
    } catch (error) {
      if (!isClosed(error)) throw error
    }
    if (ENDED.has(cluster)) throw new Error(CLOSED)
    missedAtMs ??= performance.now()
    if (performance.now() - missedAtMs > msMax)
      throw new WebloomError(
        'WL_REDIS_UNREACHABLE',
        `${missingShown(cluster)} not answered for ${Math.round(msMax / 1000)} s. Type this again when it is back, or a replica has taken its place (webloom doctor names it)`,
      )
    await sleep(ASKED_AGAIN_MS)
  }
}

/** A cluster that serves a part of its slots has no master for the others. */
async function knowsMasters(cluster: Cluster): Promise<boolean> {
  const redis = cluster as unknown as RedisClient
  const isEachKnown = () => {
    const known = placesOf(cluster)
    const places = masterPlacesOf(redis)
    return places.length > 0 && places.every((place) => known.has(place))
  }
  if (!isEachKnown()) await new Promise<void>((resolve) => cluster.refreshSlotsCache(() => resolve()))
  return isEachKnown()
}

function missingShown(cluster: Cluster): string {
  const known = placesOf(cluster)
  const missing = masterPlacesOf(cluster as unknown as RedisClient).filter((place) => !known.has(place))
  if (missing.length === 0) return 'a master of the Redis Cluster has'
  return missing.length === 1
    ? `${missing[0]}, a master of the Redis Cluster, has`
    : `${missing.join(', ')}, masters of the Redis Cluster, have`
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && error.message === CLOSED
}

function placesOf(cluster: Cluster): ReadonlySet<string> {
  return new Set(cluster.nodes('master').map(placeOf))
}

function hasAllMasters(cluster: Cluster): boolean {
  const known = placesOf(cluster)
  return Array.from({ length: SLOTS }, (_, slot) => cluster.slots[slot]?.[0]).every(
    (master) => master !== undefined && known.has(master),
  )
}

const SLOTS = 16_384

/** Returns where the masters of a cluster's slots are, also those to which there is no connection; of one server nothing. */
export function masterPlacesOf(redis: RedisClient): readonly string[] {
  const places = (clusterOf(redis)?.slots ?? []).flatMap((nodes) => nodes?.[0] ?? [])
  return [...new Set(places)]
}

/** Returns what tells the server that has a slot from the others; the same for all slots where there is one server. */
export function serverOfSlot(redis: RedisClient, slot: number): string {
  const cluster = clusterOf(redis)
  return cluster ? (cluster.slots[slot]?.[0] ?? `of slot ${slot}`) : 'the server'
}

/** Longer than a connection takes to be made anew to a server that has taken the place of another. */
const FIRST_ANSWER_MS_MAX = 4000
/** Of a server that has answered before: longer than a replica needs to take its place. */
const ANSWER_MS_MAX = 30_000

export interface UnansweredOptions {
  /** Returns what a command to that server is rejected with. */
  readonly late: (server: string, ms: number) => Promise<Error>
  /** The servers that have never answered in time, for all connections of the process. */
  readonly givenUp?: Map<string, Promise<Error>>
  /** Default: 4 s, and 30 s for a server that has answered before. */
  readonly times?: { readonly firstMs: number; readonly laterMs: number }
}

type Sent = Pick<Command, 'promise' | 'reject' | 'getSlot'>

/**
 * Has the commands of a cluster's client reject that are not answered in time. A crawl's wait until a server is there that has their keys' slot; whoever
 * typed one would wait, too, and not learn for which server. What is sent later to a server that has never answered rejects at
 * once: a command that fails cleans up, and would wait anew. Not for a client with commands that block.
 */
export function rejectUnanswered(
  redis: RedisClient,
  {
    late,
    givenUp = new Map(),
    times = { firstMs: FIRST_ANSWER_MS_MAX, laterMs: ANSWER_MS_MAX },
  }: UnansweredOptions,
): void {
  /** By place, and by slot: another server may have it by then. */
  const answered = new Set<string | number>()
  const client = redis as unknown as { sendCommand(command: Sent, ...more: unknown[]): unknown }
  const send = client.sendCommand.bind(client)
  client.sendCommand = (command, ...more) => {
    const slot = command.getSlot()
    // Any server will do.
    if (slot === null) return send(command, ...more)
    // A cluster's client puts another one in its place, which would send the command again.
    const reject = command.reject.bind(command)
    const known = givenUp.get(serverOfSlot(redis, slot))
    if (known) {
      void known.then(reject)
      return command.promise
    }
    const isKnown = answered.has(slot) || answered.has(serverOfSlot(redis, slot))
    const ms = isKnown ? times.laterMs : times.firstMs
    const timer = setTimeout(() => {
      const server = serverOfSlot(redis, slot)
      const error = givenUp.get(server) ?? late(server, ms)
      if (!answered.has(server)) givenUp.set(server, error)
      void error.then(reject)
    }, ms)
    const over = () => clearTimeout(timer)
    command.promise.then(() => {
      over()
      answered.add(slot).add(serverOfSlot(redis, slot))
    }, over)
    return send(command, ...more)
  }
}

/** Returns sections of INFO, of the server that has the key and of one moment. One that has lost its cluster refuses. */
export async function infoOf(redis: RedisClient, key: string, ...sections: string[]): Promise<string> {
  // Only a command with a key goes to the key's server; and before Redis 7 INFO takes one section.
  return clusterOf(redis) || sections.length > 1
    ? String(await redis.eval(INFO_SCRIPT, 1, key, ...sections))
    : redis.info(sections[0]!)
}

const INFO_SCRIPT =
  "local all = '' for _, section in ipairs(ARGV) do all = all .. redis.call('INFO', section) end return all"
