/**
 * Scripts that are done as a whole or not at all, also for a user of Redis whose rights change.
 *
 * Redis asks for the right to a command when a script comes to it, and what the script wrote before stays: requests that stand in no list,
 * counts that are wrong. So for a user of its own a script asks first whether it may run all that it can come to. That costs 0.8 µs a
 * command, some 20 µs a script. Whoever has no name is Redis's default user, who may do everything unless somebody has taken that away; a
 * crawl of that user asks once, when it begins. Before Redis 7 a script cannot ask. Keys are asked about, too: with the first one of the script, to
 * which its user has the right or Redis would not have begun it.
 */

/** Where a command's name can stand in our scripts and in BullMQ's: called, chosen of two, or in a table of what is called. */
const COMMANDS = /(?:call\(|\b(?:and|or) |\{ |\w = )(["'])([A-Z_]+)\1(?:, \1(NUMSUB)\1)?/g

/** A message has the channel as another right. Only what is there when the script begins can be asked about. */
const CHANNELS = /call\('PUBLISH', (KEYS\[\d+\](?: \.\. '[^']+')?),/g

/**
 * By how many arguments a command takes at least, from none on, in small letters. Who asks for the right to it must give them: with fewer, Redis from
 * releases of 2026 on says nothing but an error, as older ones do with security updates. Before, Redis 7.0 crashes where what a command
 * does to its key depends on them (SET, BITFIELD), and reads memory that is not the question's (EVAL).
 */
const COMMANDS_BY_ARGUMENTS = [
  'asking cluster|info cluster|slots info ping pubsub|numsub readonly readwrite time unsubscribe',
  `bitcount client|setname del exists get hgetall hkeys hlen hrandfield hvals incr llen lpop memory|usage mget persist pttl rpop scan scard
   smembers spop srandmember strlen subscribe type unlink xlen zcard zpopmax zpopmin`,
  `append bzpopmin expire getbit hdel hexists hget hmget hscan incrby lindex lpos lpush pexpire pexpireat publish rename renamenx rpoplpush
   rpush sadd set sismember smismember srem sscan xdel zrem zscan zscore`,
  `getrange hincrby hincrbyfloat hmset hset hsetnx lrange lrem lset ltrim setbit xrange xtrim zadd zcount zincrby zlexcount zrange
   zrangebylex zrangebyscore zremrangebyrank zremrangebyscore zrevrange zrevrangebyscore`,
  'xadd',
].map((names) => names.split(/\s+/))

/** Those of which the arguments are not keys alone; `KEY` stands for one. */
const KEY = Symbol('key')
const ARGUMENTS: Readonly<Record<string, readonly (string | typeof KEY)[]>> = {
  bitfield: [KEY, 'get', 'u8', '0'],
  bitfield_ro: [KEY, 'get', 'u8', '0'],
  eval: ['x', '0'],
  evalsha: ['x', '0'],
  xread: ['streams', KEY, '0'],
}

/**
 * Returns with which arguments the right to a command is asked for, as few as there may be; undefined for a command that is in none of the
 * lists above.
 *
 * @param command `pubsub|numsub`, for one that has a subcommand
 * @param key of an argument: a key, or a channel
 */
export function argumentsAsked<T>(command: string, key: T): readonly (string | T)[] | undefined {
  const count = COMMANDS_BY_ARGUMENTS.findIndex((names) => names.includes(command))
  return (
    ARGUMENTS[command]?.map((argument) => (argument === KEY ? key : argument)) ??
    (count < 0 ? undefined : Array.from({ length: count }, () => key))
  )
}

/** The part of a connection, or of one to a cluster, that knows its user. */
interface Connected {
  readonly options?: { readonly username?: string | null; readonly redisOptions?: { username?: string } }
}

/** Returns whether a connection is of a user that somebody has given rights. */
export function hasOwnUser(redis: object): boolean {
  const { options } = redis as Connected
  const username = options?.username ?? options?.redisOptions?.username
  return username !== undefined && username !== '' && username !== 'default'
}

/** Returns the script as one that does nothing when a right to a command in it is missing: then it fails as Redis lets it fail. */
export function withRightsCheck(lua: string): string {
  const asked = new Map<string, string>()
  const ask = (right: string, words: readonly string[], key: string) => {
    const given = argumentsAsked(words.join('|').toLowerCase(), { key })
    const named = [...words, ...(given ?? [])].map((one) => (typeof one === 'string' ? `'${one}'` : one.key))
    if (given) asked.set(right, named.join(', '))
  }
  for (const [, , name = '', sub] of lua.matchAll(COMMANDS))
    if (name !== 'PUBLISH') ask(sub ? `${name}|${sub}` : name, sub ? [name, sub] : [name], 'KEYS[1]')
  for (const [, channel = ''] of lua.matchAll(CHANNELS)) ask(`PUBLISH ${channel}`, ['PUBLISH'], channel)
  const missing = [...asked].map(
    ([name, args]) => `not may(${args}) and '${name.replace(/ .*/, '').toLowerCase()}'`,
  )
  if (missing.length === 0) return lua
  // What tells Redis how to run a script must stay its first line.
  const [, first = '', rest = ''] = /^(#!.*\n)?(.*)$/s.exec(lua)!
  return `${first}if redis.acl_check_cmd then
  local may = redis.acl_check_cmd
  local missing = ${missing.join(' or ')}
  if missing then
    return redis.error_reply("NOPERM this user has no permissions to run the '" .. missing .. "' command")
  end
end
${rest}`
}
