/**
 * A look at each Redis that the settings name, for `webloom doctor`: by the connection that workers open, and by what they
 * ask at their start.
 */

import { connect } from 'node:net'
import {
  addressOf,
  keyPrefixesOf,
  mastersOf,
  REDIS_ROLES,
  type RedisAddress,
  type RedisOptions,
  type RedisTarget,
  redisNowMs,
  redisTargets,
  redisUrlText,
  type Settings,
  SettingsError,
  silentLogger,
  WebloomError,
} from '@webloom/core'
import { redisHealth } from '@webloom/queue'
import type { Redis } from 'ioredis'
import { lookAtCluster } from '../redis/cluster-look.ts'
import { examplesFor, missingRights, renamedCure, renamedOf } from '../redis/missing-rights.ts'
import { RedisLink } from '../redis/redis-connection.ts'
import { IsNotReady } from '../redis/redis-readiness.ts'
import { IsReplica, missingRightOf, outageInWords } from '../redis/redis-refusal.ts'
import { aclLine, type RightsFor } from '../redis/redis-rights.ts'
import { IsOtherwise, IsRefused } from '../redis/refusal.ts'
import { shellQuoted } from '../terminal/resume-line.ts'
import type { CheckResult, CheckResults } from './check-result.ts'
import { clusterResults } from './cluster-results.ts'
import { cliOf } from './redis-cli-line.ts'
import { healthResults, memoryOf, type Server, startedBy } from './redis-health-results.ts'
import { urlLine } from './redis-url-line.ts'

/** A worker waits for REDIS_START_TIMEOUT, as Redis may be starting. Who asks what is wrong wants to know it now. */
const ANSWER_MS_MAX = 3000
const PINGS = 10
/** A page costs some round trips, one after the other. */
const PING_MS_MAX = 20
/** Times of one machine are shown beside those of the other. */
const CLOCK_MS_MAX = 2000
const MISSING_SHOWN_MAX = 12

/**
 * Checks them all at once.
 *
 * @param spider whose keys the user must be allowed to use; undefined: any
 * @param answerMsMax how long each server may take to answer
 */
export async function checkRedisServers(
  settings: Settings,
  spider?: string,
  answerMsMax = ANSWER_MS_MAX,
): Promise<CheckResults> {
  const servers = serversOf(settings)
  if (servers.length === 0) {
    const found = 'none is named: a crawl runs in one process. For many workers name one'
    return [{ check: 'Redis', state: 'info', found, type: 'export REDIS_URL=redis://127.0.0.1:6379' }]
  }
  return (
    await Promise.all(
      servers.map((server) => checkServer(server, { spider, ...keyPrefixesOf(settings) }, answerMsMax)),
    )
  ).flat()
}

function serversOf(settings: Settings): Server[] {
  const uses = REDIS_ROLES.flatMap((role) => redisTargets(settings, role).map((target) => ({ role, target })))
  const byPlace = Map.groupBy(uses, ({ target }) => JSON.stringify(target.options))
  return [...byPlace.values()].map((same) => {
    const [{ target }, roles] = [same[0]!, same.map(({ role }) => role)]
    const isCluster = target.options.nodes !== undefined
    const pendingStaleMs = settings.getMs('DUPEFILTER_PENDING_STALE')
    return { target, roles, named: `${target.shown} (${roles.join(', ')})`, isCluster, pendingStaleMs }
  })
}

async function checkServer(server: Server, whose: RightsFor, answerMsMax: number): Promise<CheckResults> {
  const { target, roles } = server
  const link = new RedisLink(target, {
    startTimeoutMs: answerMsMax,
    logger: silentLogger,
    roles,
    whose,
  })
  const seen = target.options.nodes ? await lookAtCluster(target.options, answerMsMax / 2) : undefined
  const userLine = (at: RedisAddress) => loginLine(placedAt(server, at), whose)
  const ofCluster = seen ? clusterResults(seen, server.named, userLine) : []
  try {
    // A cluster that is down lets nobody in, and one node that is away is not all of it.
    if (seen?.isDown) return ofCluster
    await Promise.race([link.open(), ...(seen?.answers ? [] : [hopeless(link.client)])])
    const masters = mastersOf(link.client).filter((master) => !seen?.isAway(master.options))
    const results = masters.map((master) => checkOpen(master, foundAt(master, server), whose))
    return [
      ...(await Promise.all(results)).flat(),
      ...ofCluster,
      ...(await sentinelResults(server, answerMsMax)),
    ]
  } catch (error) {
    if (ofCluster.some(({ state }) => state === 'fail')) return ofCluster
    return [
      isUnanswered(error) && (await isListening(target.options, answerMsMax))
        ? silent(server, answerMsMax)
        : unusable(error as Error & { code?: string }, server, whose),
    ]
  } finally {
    link.close()
  }
}

/** One that is away is missed when the others are few. */
async function sentinelResults({ target, named }: Server, answerMsMax: number): Promise<CheckResults> {
  const { sentinels = [] } = target.options
  const listening = await Promise.all(sentinels.map((place) => isListening(place, answerMsMax)))
  return sentinels.flatMap(({ host, port }, n): CheckResult[] => {
    const found = `the Sentinel ${host}:${port} of ${named} does not answer; fewer of them are left to agree on a fail-over`
    return listening[n]
      ? []
      : [{ check: 'Redis Sentinels', state: 'warn', found, type: `redis-cli -h ${host} -p ${port} PING` }]
  })
}

/** The place to which Sentinels led, or of one of a cluster's masters: lines to type are for that. */
function foundAt(client: Redis, server: Server): Server {
  const { host = '', port = 0 } = client.options
  const { sentinels, nodes } = server.target.options
  if (nodes) return placedAt(server, { host, port }, `${host}:${port} of ${server.named}`)
  const place = sentinels && addressOf(client)
  if (!place) return server
  return placedAt(server, place, `${server.named}, master ${place.host}:${place.port}`)
}

function placedAt(server: Server, place: RedisAddress, named = server.named): Server {
  const { sentinels, name, nodes, ...options } = server.target.options
  return { ...server, named, target: { ...server.target, options: { ...options, ...place } } }
}

/** Rejects where asking again within a few seconds is of no use. */
function hopeless(client: Redis): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  client.on('error', (error: NodeJS.ErrnoException) => {
    if (isHopeless(error)) reject(error)
  })
  promise.catch(() => {})
  return promise
}

/** Of all that are named together. */
const NOBODY = /^(?:All sentinels are unreachable|Failed to refresh slots cache)/

function isHopeless({ code = '' }: NodeJS.ErrnoException): boolean {
  return ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code)
}

/** Returns true when nothing came, and no error either. */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof WebloomError) || error instanceof IsReplica || error instanceof IsNotReady)
    return false
  return error.code === 'WL_REDIS_UNREACHABLE' && error.cause === undefined
}

/** Whether anything takes connections there. */
async function isListening({ host, port }: RedisOptions, timeoutMs: number): Promise<boolean> {
  if (host === undefined || port === undefined) return false
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port, timeout: timeoutMs })
  socket
    .on('connect', () => resolve(true))
    .on('timeout', () => resolve(false))
    .on('error', () => resolve(false))
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}

/** To start another Redis there would be of no use: the port is taken. */
function silent({ target, named }: Server, answerMsMax: number): CheckResult {
  const reasons = target.options.tls
    ? 'it speaks no TLS (then write redis://), or it hangs'
    : 'it is reading its file, it hangs, or it speaks TLS alone (then write rediss://)'
  return {
    check: 'Redis',
    state: 'fail',
    found: `${named} takes connections, and has answered nothing within ${answerMsMax / 1000} s: ${reasons}`,
    type: `${cliOf(target.options)} PING`,
  }
}

function unusable(error: Error & { code?: string }, server: Server, whose: RightsFor): CheckResult {
  const { target, roles, named } = server
  const fail = (found: string, type: string): CheckResult => ({ check: 'Redis', state: 'fail', found, type })
  if (error instanceof IsOtherwise) {
    // Its name is known to the Sentinel alone.
    const ask = cliOf(target.options)
    const line =
      error.kind === 'sentinel'
        ? `${ask} SENTINEL MASTERS`
        : urlLine({ setting: target.setting, shown: error.url, options: target.options })
    return fail(`${error.problems.join('; ')} (${roles.join(', ')})`, line)
  }
  if (error instanceof SettingsError)
    return fail(error.problems.join('; '), `webloom settings --explain ${target.setting}`)
  const missing = missingRightOf(error)
  if (missing)
    return fail(`${named}: ${missing.why}`, missing.isRenamed ? RENAMED_LINE : rightsLine(server, whose))
  if (error instanceof IsNotReady)
    return fail(`${error.message} (${roles.join(', ')})`, `${cliOf(target.options)} ${error.question}`)
  if (error instanceof IsRefused) {
    const { refusal, message } = error
    const line = refusal.question ? `${cliOf(target.options)} ${refusal.question}` : urlLine(target, refusal)
    return fail(`${message} (${roles.join(', ')})`, line)
  }
  if (error instanceof IsReplica) {
    const { setting, options } = target
    const shown = redisUrlText({
      kind: 'server',
      isTls: options.tls !== undefined,
      addresses: [error.master],
      ...(options.db !== undefined && { db: options.db }),
    })
    return fail(`${error.message} (${roles.join(', ')})`, urlLine({ setting, shown }))
  }
  const cause =
    error.code === 'WL_REDIS_UNREACHABLE' ? (error.cause as NodeJS.ErrnoException | undefined) : error
  const isAnswering = cause !== undefined && !isHopeless(cause) && !NOBODY.test(cause.message)
  const why = cause ? outageInWords(cause) || cause.code : `no answer within ${ANSWER_MS_MAX / 1000} s`
  // A port where TLS alone is spoken ends a connection that begins without.
  const wantsTls =
    cause?.code === 'ECONNRESET' && !target.options.tls ? '; if it speaks TLS alone, write rediss://' : ''
  return isAnswering
    ? fail(`${named} does not answer as a Redis does: ${why}${wantsTls}`, explainLine(target))
    : fail(`${named} does not answer: ${why}`, startLine(target))
}

async function checkOpen(redis: Redis, server: Server, whose: RightsFor): Promise<readonly CheckResult[]> {
  const health = await redisHealth(redis)
  const pingMs = await shortestPingMs(redis)
  return [
    {
      check: 'Redis',
      state: 'ok',
      found: `${server.named}: version ${health.version}, ${memoryOf(health)}, ${pingMs.toFixed(1)} ms away`,
    },
    ...healthResults(health, server),
    ...(pingMs > PING_MS_MAX ? [farAway(pingMs, server)] : []),
    ...(await clockResults(redis, server)),
    ...(await rightsResults(redis, server, whose)),
  ]
}

/** The shortest of several: the others waited for this machine, which may be busy. */
async function shortestPingMs(redis: Redis): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let n = 0; n < PINGS; n++) {
    const before = performance.now()
    await redis.ping().catch(() => {}) // One whose disk fails refuses it.
    shortest = Math.min(shortest, performance.now() - before)
  }
  return shortest
}

function farAway(pingMs: number, { target, named }: Server): CheckResult {
  const found = `${named} answers after ${Math.round(pingMs)} ms, and a page waits for several answers: put workers and Redis into one network`
  return { check: 'Redis latency', state: 'warn', found, type: `${cliOf(target.options)} --latency` }
}

async function clockResults(redis: Redis, { named }: Server): Promise<CheckResults> {
  const before = Date.now()
  // The role of items has no right to ask.
  const theirs = await redisNowMs(redis).catch(() => undefined)
  if (theirs === undefined) return []
  const aheadMs = theirs - (before + Date.now()) / 2
  if (Math.abs(aheadMs) <= CLOCK_MS_MAX) return []
  const how = `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine’s`
  const found = `the clock of ${named} is ${how}: times in logs and in webloom status do not fit together`
  return [{ check: 'Redis clock', state: 'warn', found, type: 'timedatectl status' }]
}

/** A right that is missing ends a crawl in its middle. Before Redis 7 a user cannot ask for its own rights. */
async function rightsResults(redis: Redis, server: Server, whose: RightsFor): Promise<CheckResults> {
  const { roles, named } = server
  const missing = await missingRights(redis, roles, examplesFor(roles, whose), whose)
  if (missing.length === 0) return []
  const renamed = (await renamedOf(redis, missing)) ?? []
  if (renamed.length > 0)
    return [
      {
        check: 'Redis commands',
        state: 'fail',
        found: `${named}: ${renamedCure(renamed)}`,
        type: RENAMED_LINE,
      },
    ]
  const shown = missing.slice(0, MISSING_SHOWN_MAX).join(', ')
  const more =
    missing.length > MISSING_SHOWN_MAX ? ` and ${missing.length - MISSING_SHOWN_MAX} others more` : ''
  const found = `${named}: its user has no right to ${shown}${more}; a crawl that needs one of them ends there`
  return [{ check: 'Redis rights', state: 'warn', found, type: rightsLine(server, whose) }]
}

/** Only its file has them. */
const RENAMED_LINE = 'grep rename-command /etc/redis/redis.conf    # on the machine of that Redis'

/** What an administrator types; the crawl's own user has no right to it. */
function rightsLine({ target, roles, isCluster }: Server, whose: RightsFor): string {
  const { username, ...others } = target.options
  const line = aclLine(roles, { ...whose, isCluster }).replace('<user>', username ?? '<user>')
  return [cliOf({ ...others, password: '' }), ...line.split(' ').map(shellQuoted)].join(' ')
}

/** What gives a node the user by whom the others let us in. */
function loginLine(server: Server, whose: RightsFor): string {
  const { username, ...others } = server.target.options
  if (username !== undefined) return rightsLine(server, whose)
  return `${cliOf({ ...others, password: '' })} ACL SETUSER default on ${shellQuoted('><password>')}`
}

function explainLine({ shown, setting }: RedisTarget): string {
  return `webloom settings --explain ${setting}    # is ${shown} meant?`
}

function startLine(target: RedisTarget): string {
  const { host, port } = target.options
  const isHere = host !== undefined && /^(?:localhost|127\.|::1$)/.test(host)
  return isHere ? startedBy(port) : explainLine(target)
}
