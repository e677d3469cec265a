/**
 * Scripts that are done as a whole or not at all, also for a user of Redis whose rights change.
 *
 * Redis asks for the right to a command when a script comes to it, and what the script wrote before stays: requests that stand in no list,
 * counts that are wrong. So for a user of its own a script asks first whether it may run all that it can come to. That costs 0.4 µs a
 * command, some 10 µs a script. Whoever has no name is Redis's default user, who may do everything unless somebody has taken that away; a
 * crawl of that user asks once, when it begins. Before Redis 7 a script cannot ask.
 */

/** Where a command's name can stand in our scripts and in BullMQ's: called, chosen of two, or in a table of what is called. */
const COMMANDS = /(?:call\(|\b(?:and|or) |\{ |\w = )(["'])([A-Z_]+)\1(?:, \1(NUMSUB)\1)?/g

/** A message has the channel as another right. Only what is there when the script begins can be asked about. */
const CHANNELS = /call\('PUBLISH', (KEYS\[\d+\](?: \.\. '[^']+')?),/g

/** What these do to their key depends on their arguments: Redis 7.0 crashes when it is asked without. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  SET: "KEYS[1], ''",
  BITFIELD: "KEYS[1], 'GET', 'u8', '0'",
  BITFIELD_RO: "KEYS[1], 'GET', 'u8', '0'",
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
  for (const [, , name = '', sub] of lua.matchAll(COMMANDS)) {
    const args = sub ? `, '${sub}'` : ARGUMENTS[name] ? `, ${ARGUMENTS[name]}` : ''
    asked.set(sub ? `${name}|${sub}` : name, `'${name}'${args}`)
  }
  for (const [, channel = ''] of lua.matchAll(CHANNELS))
    asked.set(`PUBLISH ${channel}`, `'PUBLISH', ${channel}`)
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
