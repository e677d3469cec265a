/**
 * What is wrong with a Redis Cluster, by asking its nodes one by one. A client of the whole is told only that it did not work: which node is away, which
 * address the nodes give one another, and whether slots have no master is known to the nodes alone. So it is with who does not let us in, of the servers
 * that Sentinels know, too.
 */

import { createRequire } from 'node:module'
import {
  addressOf,
  isLoginReply,
  newRedisClient,
  type RedisAddress,
  type RedisClient,
  type RedisOptions,
  type RedisTarget,
  rejectUnanswered,
  WebloomError,
  within,
} from '@webloom/core'
import { wayOut } from '../terminal/told-once.ts'
import type { LockedLook } from './lasting-trouble.ts'
import { explainLogin, isSentinel, outageInWords, refusalOf } from './redis-refusal.ts'
import { IsLockedAtMaster, IsRefused } from './refusal.ts'

const SLOTS = 16_384

export interface NodeSeen extends RedisAddress {
  /** By the URL; others are known by what the nodes tell. */
  readonly isNamed: boolean
  readonly isMaster: boolean
  /** Why it cannot be asked. */
  readonly error?: string
}

/** What is wrong, and what to type. */
export interface ClusterTrouble {
  readonly why: string
  readonly type: string
  /** A node that lacks our user, or its rights. */
  readonly lockedAt?: RedisAddress
  /** False: a crawl may go on all the same. */
  readonly isFatal: boolean
}

export interface ClusterSeen {
  readonly nodes: readonly NodeSeen[]
  readonly troubles: readonly ClusterTrouble[]
  /** Some node answers. */
  readonly answers: boolean
  /** It takes no commands. */
  readonly isDown: boolean
  isAway(place: { readonly host?: string | undefined; readonly port?: number | undefined }): boolean
}

/** As CLUSTER SLOTS has it. */
type SlotRange = readonly [
  first: number,
  last: number,
  ...nodes: readonly (readonly [host: string, port: number])[],
]

interface Answer {
  readonly place: RedisAddress
  readonly error?: string
  readonly info?: string
  readonly slots?: readonly SlotRange[]
  /** Empty for a user without the right to it. */
  readonly nodes?: string
}

/** Asks those that are named, and those that they name. */
export async function lookAtCluster(options: RedisOptions, timeoutMs: number): Promise<ClusterSeen> {
  const named = options.nodes ?? []
  const first = await Promise.all(named.map((place) => asked(options, place, timeoutMs)))
  const ranges = first.flatMap(({ slots = [] }) => slots)
  const places = new Map<string, RedisAddress>()
  for (const [, , ...nodes] of ranges)
    for (const [host, port] of nodes) if (host) places.set(`${host}:${port}`, { host, port })
  for (const place of named) places.delete(shownOf(place))
  const others = await Promise.all([...places.values()].map((place) => asked(options, place, timeoutMs)))
  const masters = new Set(ranges.map(([, , [host, port] = ['', 0]]) => `${host}:${port}`))
  const answers = [...first, ...others]
  const nodes = answers.map(({ place, error }, n) => ({
    ...place,
    isNamed: n < first.length,
    isMaster: masters.has(shownOf(place)),
    ...(error !== undefined && { error }),
  }))
  const away = new Set(nodes.filter(({ error }) => error !== undefined).map(shownOf))
  return {
    nodes,
    troubles: troublesOf(nodes, answers),
    answers: answers.some(({ info }) => info !== undefined),
    isDown: answers.some(isDown),
    isAway: ({ host = '', port = 0 }) => away.has(shownOf({ host, port })),
  }
}

/**
 * Resolves to the refusal of a server that does not let us in, of a cluster none of whose nodes does, or of a master of it that does not though
 * others do; to undefined where none refuses. Rejects where a node of a cluster that does not answer may let us in, or is the one that did not before;
 * and where the master that Sentinels name does not answer.
 *
 * @param aclLine gives a user all rights that are needed
 */
export async function lockedOutOf(
  target: RedisTarget,
  aclLine: string,
  timeoutMs: number,
  { before, isLast, letInAt }: LockedLook,
): Promise<WebloomError | undefined> {
  const { options, shown, setting } = target
  if (!options.nodes) {
    const { error, place } = await connected<Unmet>(options, timeoutMs, async () => ({}))
    const isRefused = error !== undefined && isLoginReply({ message: error })
    if (options.sentinels && error !== undefined && !isRefused) throw new Error(error)
    if (!isRefused) return undefined
    const isPromoted = options.sentinels && place && letInAt && shownOf(place) !== shownOf(letInAt)
    return isPromoted ? lockedAtPromoted(place, error, target, aclLine) : refusedLogin(error, shown, setting)
  }
  const { nodes, answers } = await lookAtCluster(options, timeoutMs)
  if (answers) {
    const lockedBefore = before instanceof IsLockedAtMaster ? before.node : undefined
    const locked = lockedAtMaster({ nodes }, target, aclLine)
    const isAway = ({ isMaster, error, ...place }: NodeSeen) =>
      isMaster && error !== undefined && !refuses(error) && shownOf(place) === lockedBefore
    if (!locked && nodes.some(isAway)) throw new Error('the node that did not let us in does not answer')
    return locked
  }
  const refused = nodes.find(({ error = '' }) => isLoginReply({ message: error }))
  const mayLetIn = nodes.some(({ error = '' }) => NO_RIGHT.test(error) || (!isLast && IS_LATE.test(error)))
  if (!refused || mayLetIn) throw new Error('not all nodes have answered')
  return refusedLogin(refused.error!, shown, setting)
}

const SILENCE_LOOK_MS_MAX = 1500

/** Has what a command asks end, where the server that has the key is away, with which one that is and what to do. Of one server nothing. */
export function endUnanswered(
  client: RedisClient,
  target: RedisTarget,
  givenUp?: Map<string, Promise<Error>>,
): void {
  if (!target.options.nodes) return
  let looking: Promise<ClusterSeen> | undefined
  const look = () => {
    looking ??= lookAtCluster(target.options, SILENCE_LOOK_MS_MAX).finally(() => {
      looking = undefined
    })
    return looking
  }
  rejectUnanswered(client, {
    ...(givenUp && { givenUp }),
    late: async (server, ms) => silence(target.shown, { server, ms, seen: await look() }),
  })
}

interface Silence {
  readonly server: string
  readonly ms: number
  readonly seen: ClusterSeen
}

function silence(shown: string, { server, ms, seen }: Silence): WebloomError {
  const [worst] = seen.troubles.filter(({ isFatal }) => isFatal)
  const why = worst ? `${worst.why}. See: ${worst.type}` : 'See: webloom doctor'
  return new WebloomError(
    'WL_REDIS_UNREACHABLE',
    `${server} has not answered for ${Math.round(ms / 1000)} s (${shown}): ${why}. Start that server again, or have a replica take its place, and then type this again: it does what is not done yet`,
  )
}

function refusedLogin(why: string, shown: string, setting: string): WebloomError | undefined {
  const error = new Error(why)
  explainLogin(error, shown, setting)
  return refusalOf(error)
}

/** Returns the refusal of a master that does not know our user, though others do: it was added later, or was a replica. */
export function lockedAtMaster(
  { nodes }: Pick<ClusterSeen, 'nodes'>,
  { options, shown }: RedisTarget,
  aclLine: string,
): WebloomError | undefined {
  const node = nodes.find(({ isMaster, error = '' }) => isMaster && isLoginReply({ message: error }))
  if (!node) return undefined
  return new IsLockedAtMaster(shown, shownOf(node), {
    why: lockedNode(
      { node: shownOf(node), reply: `, though others do (Redis says: ${node.error})` },
      options,
      aclLine,
    ),
  })
}

/** Returns what is wrong at the node of a cluster that has refused a login; undefined where none is known to have. */
export function lockedNodeOf(
  { node, message }: Error & { readonly node?: string },
  options: RedisOptions,
  aclLine: string,
): string | undefined {
  const reply = ` (Redis says: ${message.replace(/\.+$/, '')})`
  return node === undefined ? undefined : lockedNode({ node, reply }, options, aclLine)
}

function lockedNode(
  { node, reply }: { readonly node: string; readonly reply: string },
  options: RedisOptions,
  aclLine: string,
): string {
  const [, host, port] = /^(.*):(\d+)$/.exec(node) ?? []
  return `its node ${node} does not let this process in${reply}. ${wayOut(`Users and passwords are made at each node by itself, and a node that was added, or has taken its master’s place, may lack them. Type at that node (redis-cli -h ${host} -p ${port}): ${userLine(options, aclLine)} (docs/deploy.md says more)`)}`
}

/** Returns the refusal of a replica that Sentinels have made the master, and that does not know our user: replicas do not get it from their master. */
function lockedAtPromoted(
  place: RedisAddress,
  error: string,
  { options, shown }: RedisTarget,
  aclLine: string,
): WebloomError {
  const { host, port } = place
  return new IsRefused(shown, {
    why: `${shownOf(place)}, which is the master now, does not let this process in, though the one before did (Redis says: ${error}). ${wayOut(`Users and passwords are made at each server by itself, and a replica that has taken its master’s place may lack them. Type at that server (redis-cli -h ${host} -p ${port}): ${userLine(options, aclLine)} (docs/deploy.md says more)`)}`,
  })
}

function userLine({ username }: RedisOptions, aclLine: string): string {
  return username
    ? aclLine.replace('<user>', () => username)
    : 'ACL SETUSER default on ><password> (and the same as requirepass in its redis.conf)'
}

function troublesOf(nodes: readonly NodeSeen[], answers: readonly Answer[]): ClusterTrouble[] {
  const answering = answers.find(({ info }) => info !== undefined)
  // Nobody answers: that is told otherwise.
  if (!answering) return []
  const check = `redis-cli --cluster check ${shownOf(answering.place)}`
  const down = answers.find(isDown)
  return [
    ...nodes.filter(({ error }) => error !== undefined).map((node) => awayTrouble(node, check)),
    ...(down ? [downTrouble(down)] : []),
    ...answers.flatMap(({ place, nodes: lines = '' }) => movingTroubles(place, lines)),
  ]
}

const IS_LATE = /no answer for \d+ ms/
const NO_RIGHT = /^NOPERM\b/

/** A user, and the rights that it has, are made at each node by itself. */
function refuses(error: string): boolean {
  return isLoginReply({ message: error }) || NO_RIGHT.test(error)
}

function awayTrouble(node: NodeSeen, check: string): ClusterTrouble {
  const { isNamed, isMaster, error } = node
  const who = `the ${isMaster ? 'master' : 'node'} ${shownOf(node)}`
  const announced = isNamed
    ? ''
    : '. The other nodes announce that address. If this machine reaches it by another one (Docker, a tunnel, a provider), set cluster-announce-ip and cluster-announce-port of the node to what it does reach'
  if (refuses(error!)) {
    const cost = isMaster ? '' : '. The crawl ends once that node takes the place of its master'
    return {
      why: `${who} does not let us in, though others do: ${error}. A user is made at each node by itself${cost}`,
      type: `redis-cli -h ${node.host} -p ${node.port} ACL LIST`,
      lockedAt: { host: node.host, port: node.port },
      isFatal: isMaster,
    }
  }
  return { why: `${who} does not answer: ${error}${announced}`, type: check, isFatal: isMaster }
}

function isDown({ info = '' }: Answer): boolean {
  return /^cluster_state:fail/m.test(info)
}

function downTrouble({ place, info = '' }: Answer): ClusterTrouble {
  const assigned = Number(/^cluster_slots_assigned:(\d+)/m.exec(info)?.[1] ?? SLOTS)
  const working = Number(/^cluster_slots_ok:(\d+)/m.exec(info)?.[1] ?? SLOTS)
  const cause =
    assigned < SLOTS
      ? `${SLOTS - assigned} of ${SLOTS} slots are given to no node; mostly one was never joined with the others`
      : `${SLOTS - working} of ${SLOTS} slots have no master that answers`
  return {
    why: `${shownOf(place)} takes nothing, as its cluster is down (CLUSTERDOWN, cluster_state:fail): ${cause}`,
    type: `redis-cli --cluster check ${shownOf(place)}`,
    isFatal: true,
  }
}

const MOVES_SHOWN = 5

/** Of its own line, as each node knows only of its own moves. */
function movingTroubles(place: RedisAddress, lines: string): ClusterTrouble[] {
  const nodes = lines.split('\n')
  const own = nodes.find((line) => /\bmyself\b/.test(line)) ?? ''
  const moves = [...own.matchAll(/\[(\d+)->-(\w+)\]/g)].slice(0, MOVES_SHOWN)
  if (moves.length === 0) return []
  const addressOf = (id: string) =>
    / ([^@\s]+)@/.exec(nodes.find((line) => line.startsWith(`${id} `)) ?? '')?.[1] ?? 'another node'
  const shown = moves.map(([, slot, id]) => `slot ${slot} to ${addressOf(id!)}`).join(', ')
  return [
    {
      why: `${shownOf(place)} has begun to move ${shown}: what is kept there may wait until the move ends`,
      type: `redis-cli --cluster fix ${shownOf(place)}`,
      isFatal: false,
    },
  ]
}

async function asked(options: RedisOptions, place: RedisAddress, timeoutMs: number): Promise<Answer> {
  const { nodes: _, ...plain } = options
  const answer = await connected({ ...plain, ...place }, timeoutMs, async (client) => {
    const [info, slots, nodes] = await Promise.all([
      client.cluster('INFO'),
      client.cluster('SLOTS').catch(() => []),
      client.cluster('NODES').catch(() => ''),
    ])
    return { info: String(info), slots: slots as unknown as SlotRange[], nodes: String(nodes) }
  })
  return { ...answer, place }
}

/** Resolves to true when what a URL names as a node of a cluster is a Sentinel. Those have users of their own, or none. */
export async function isSentinelAmong(options: RedisOptions, timeoutMs: number): Promise<boolean> {
  const { nodes, username, password, ...plain } = options
  if (!nodes) return false
  const logins: RedisOptions[] = [{ ...(username && { username }), ...(password && { password }) }, {}]
  const infos = logins.map((login) =>
    connected({ ...plain, ...nodes[0]!, ...login }, timeoutMs, async (client) => ({
      info: await client.info(),
    })),
  )
  return (await Promise.all(infos)).some((answer) => 'info' in answer && isSentinel(answer.info))
}

/** Why there is no connection. */
interface Unmet {
  readonly error?: string
  /** Where one was made, and then refused or lost. */
  readonly place?: RedisAddress | undefined
}

/** Resolves to what `ask` does, of a connection for it alone; to why there is none. */
async function connected<T>(
  { db: _, ...options }: RedisOptions,
  timeoutMs: number,
  ask: (client: RedisClient) => Promise<T>,
): Promise<T | (Unmet & { readonly error: string })> {
  const ioredis = createRequire(import.meta.url)('ioredis') as typeof import('ioredis')
  const client = newRedisClient(ioredis, options, {
    lazyConnect: true,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
  })
  let lost: Error | undefined
  client.on('error', (error: Error) => {
    lost = error
  })
  let place: RedisAddress | undefined
  client.on('connect', () => {
    place = addressOf(client)
  })
  try {
    return await within(
      timeoutMs,
      'CLUSTER INFO',
      client.connect().then(() => ask(client)),
    )
  } catch (error) {
    return { error: outageInWords(lost ?? (error as Error)), place }
  } finally {
    client.disconnect()
  }
}

function shownOf({ host, port }: RedisAddress): string {
  return `${host}:${port}`
}
