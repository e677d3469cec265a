/** What Webloom does on a Redis, by role: the rights that a user of its own needs there, and no others. */

import type { KeyPrefixes, RedisRole } from '@webloom/core'

interface Rights {
  /**
   * `<spider>` stands for the spider's name: a key of another pattern, such as a literal REDIS_ITEMS_KEY, takes its place. `patternFor` adds
   * prefixes.
   */
  readonly keys: readonly string[]
  readonly channels: readonly string[]
  readonly commands: readonly string[]
}

/** What each connection does, whatever for. */
const CONNECTION = words('client|setname eval evalsha info ping')

/** What a client of a Redis Cluster does besides: it asks which node has which slots, also in the middle of a move. */
export const CLUSTER_RIGHTS = words('asking cluster|info cluster|slots readonly readwrite')

export const REDIS_RIGHTS: Readonly<Record<RedisRole, Rights>> = {
  queue: {
    keys: [
      'webloom:crawls',
      'webloom:schedules',
      'webloom:{<spider>}:*',
      'webloom:{<spider>@*',
      'webloom:{<spider>#*',
      '<spider>:*',
      '{<spider>:requests}:*',
    ],
    channels: ['webloom:{<spider>}:*', 'webloom:{<spider>@*', 'webloom:{<spider>#*'],
    commands: words(
      `bzpopmin del exists expire get hdel hexists hget hgetall hincrby hincrbyfloat hkeys hlen hmget hmset hrandfield hscan hset hsetnx hvals
       incr lindex llen lpop lpos lpush lrange lrem lset ltrim mget persist pexpire pexpireat pttl publish pubsub|numsub rename renamenx rpop rpoplpush
       rpush sadd scan scard set sismember smembers smismember spop srem subscribe time type unlink unsubscribe xadd xtrim zadd zcard
       zcount zincrby zpopmin zrange zrangebyscore zrem zremrangebyrank zremrangebyscore zrevrange zrevrangebyscore zscan zscore`,
    ),
  },
  dupefilter: {
    keys: ['<spider>:*', '{<spider>:*'],
    channels: [],
    commands: words(
      `append bitcount bitfield bitfield_ro del exists getbit getrange hdel hexists hget hgetall hincrby hlen hmget hrandfield
       hscan hset hsetnx lindex lpop lrange lrem memory|usage mget rpush sadd scard set setbit sismember smismember srandmember
       srem strlen time type unlink`,
    ),
  },
  seeds: {
    keys: ['<spider>:*', '{<spider>:*'],
    channels: [],
    commands: words(
      `get hdel hget hincrby hlen hset llen lpop lpush ltrim rpush sadd scard set spop time type zadd zcard zpopmax
       zrangebyscore zrem`,
    ),
  },
  items: {
    keys: ['<spider>:*'],
    channels: [],
    commands: words('llen rpush type xadd xlen'),
  },
}

/** Whose crawls a user is for. */
export interface RightsFor extends KeyPrefixes {
  /** Absent: a line leaves its place open. */
  readonly spider?: string | undefined
  readonly isCluster?: boolean
}

/** Returns a pattern of a role's keys or channels for a spider of these prefixes. */
export function patternFor(
  pattern: string,
  { spider = '<spider>', keyPrefix = '', queuePrefix = 'webloom' }: RightsFor,
): string {
  // A companion has the whole key for its hash tag.
  return pattern
    .replace(/^webloom(?=:)/, () => queuePrefix)
    .replace(/^\{?/, (brace) => brace + keyPrefix)
    .replace('<spider>', () => spider)
}

/** The line that gives a user the rights of these roles, to be typed at that Redis; at each node of a cluster. */
export function aclLine(roles: readonly RedisRole[], whose: RightsFor = {}): string {
  const all = (of: (rights: Rights) => readonly string[]) =>
    [...new Set(roles.flatMap((role) => of(REDIS_RIGHTS[role])))].sort()
  const keys = all(({ keys }) => keys).map((pattern) => `~${patternFor(pattern, whose)}`)
  const channels = all(({ channels }) => channels).map((pattern) => `&${patternFor(pattern, whose)}`)
  const commands = [
    ...new Set([
      ...CONNECTION,
      ...(whose.isCluster ? CLUSTER_RIGHTS : []),
      ...all(({ commands }) => commands),
    ]),
  ].sort()
  return [
    `ACL SETUSER <user> on ><password> resetkeys resetchannels -@all`,
    ...keys,
    ...channels,
    ...commands.map((command) => `+${command}`),
  ].join(' ')
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
