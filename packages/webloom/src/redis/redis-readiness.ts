/**
 * Whether a Redis that answers will do for a crawl that writes, by what it says of itself: of one that does not, why, and the line to type.
 * What may pass (a replica that is starting, a disk that is full) is waited for; an old version does not.
 */

import { allMastersOf, type RedisClient, WebloomError, within } from '@webloom/core'
import { DISK_CURE, diskFailureIn } from '@webloom/queue'
import type { Redis } from 'ioredis'
import { masterOfReplica } from './redis-refusal.ts'

/** Commands of ours are as old as that: LPOP with a count, SMISMEMBER, HRANDFIELD, ZRANGE … BYSCORE. */
const VERSION_MIN = [6, 2] as const

/** What keeps a server from being used. */
export interface NotReady {
  /** Follows “cannot be used”: why, and what to do. */
  readonly why: string
  /** True: it will not be otherwise in a moment. */
  readonly isFinal: boolean
  /** What to type at that server; default: what asks how it is. */
  readonly question?: string
}

/** A server that answers, and will not do. */
export class IsNotReady extends WebloomError {
  readonly question: string

  constructor(shown: string, { why, isFinal, question = 'INFO persistence' }: NotReady) {
    const code = isFinal ? 'WL_REDIS_REFUSED' : 'WL_REDIS_UNREACHABLE'
    super(code, `Redis at ${shown} cannot be used: ${why}`)
    this.question = question
  }
}

/**
 * @param infos what INFO says, of each master
 * @param isWritten whether commands that write are let pass; asked only where a server says that its disk fails
 */
export async function notReady(
  infos: readonly string[],
  isWritten: () => Promise<boolean>,
): Promise<NotReady | undefined> {
  for (const info of infos) {
    const old = oldVersionIn(info)
    if (old !== undefined) return { why: old, isFinal: true }
    if (/^min_slaves_good_slaves:0\s*$/m.test(info)) return { why: LACKS_REPLICAS, isFinal: false }
    const failure = diskFailureIn(info)
    if (failure !== undefined && !(await isWritten()))
      return {
        why: `it takes no writes (MISCONF): ${failure}. ${DISK_CURE}; or, to do without snapshots: redis-cli CONFIG SET stop-writes-on-bgsave-error no`,
        isFinal: false,
      }
  }
  return undefined
}

const LACKS_REPLICAS =
  'it takes no writes, as none of its replicas is near enough (min-replicas-to-write). Start its replicas; or, to do without, type there: redis-cli CONFIG SET min-replicas-to-write 0'

/** Returns in words that a server is too old; undefined when it is not, or does not tell. */
export function oldVersionIn(info: string): string | undefined {
  const [, version] = /^redis_version:(\S+)/m.exec(info) ?? []
  if (version === undefined) return undefined
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = major < VERSION_MIN[0] || (major === VERSION_MIN[0] && minor < VERSION_MIN[1])
  return isOld
    ? `it is version ${version}, and Webloom needs Redis ${VERSION_MIN.join('.')} or later, or Valkey. Install one (docs/guides/redis.md has those that were tried)`
    : undefined
}

/** Returns how much of its file a starting server has read; undefined for any other. */
export function loadingIn(info: string): string | undefined {
  if (!/^loading:1\s*$/m.test(info)) return undefined
  const [, part = '0'] = /^loading_loaded_perc:(\S+)/m.exec(info) ?? []
  return `it is still reading its file, ${Math.round(Number(part))} % so far. Wait, or give it longer by REDIS_START_TIMEOUT`
}

/** A server whose disk fails refuses PING, too, and answers what only reads. */
export async function ponged(client: Redis): Promise<'PONG' | 'MISCONF'> {
  try {
    return await client.ping()
  } catch (error) {
    if (/^MISCONF/.test((error as Error).message)) return 'MISCONF'
    throw error
  }
}

/** Whoever asks whether a process is ready waits a second for the answer (Kubernetes). */
const ASKED_MS = 700

/** What a server was asked that has not answered yet: it is not asked again before. */
const asked = new WeakMap<RedisClient, Promise<boolean>>()

/**
 * Resolves to whether a connection that is in use leads to a server that answers and takes writes, in a cluster to all of its masters. One that
 * nothing was sent by yet is not opened for the question.
 */
export async function servesNow(redis: RedisClient): Promise<boolean> {
  if (redis.status === 'wait') return true
  if (redis.status !== 'ready') return false
  try {
    return await within(ASKED_MS, 'INFO', allTakeWrites(redis))
  } catch {
    return false
  }
}

async function allTakeWrites(redis: RedisClient): Promise<boolean> {
  const masters = await allMastersOf(redis)
  return masters !== undefined && (await Promise.all(masters.map(takesWrites))).every((takes) => takes)
}

function takesWrites(master: RedisClient): Promise<boolean> {
  const pending = asked.get(master) ?? writesSay(master).finally(() => asked.delete(master))
  asked.set(master, pending)
  return pending
}

async function writesSay(master: RedisClient): Promise<boolean> {
  const info = await master.info()
  if (masterOfReplica(info) || loadingIn(info) !== undefined) return false
  return (await notReady([info], async () => (await ponged(master)) !== 'MISCONF')) === undefined
}
