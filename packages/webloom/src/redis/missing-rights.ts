/** Which rights of those that Webloom needs a user of Redis has not: asked, before one of them ends a crawl in its middle. */

import { luaScriptsIn, mastersOf, type RedisClient, type RedisRole } from '@webloom/core'
import { patternFor, REDIS_RIGHTS, type RightsFor } from './redis-rights.ts'

const script = luaScriptsIn(new URL('../../lua/', import.meta.url))('missing-rights.lua')

/** What these do to their key depends on their arguments, so Redis refuses them without. */
const WITH_ARGUMENTS: Readonly<Record<string, string>> = { set: 'x', bitfield: 'get\nu8\n0' }

/** A right to a channel is one of its own: a user that was made by hand often has none. */
const WITH_CHANNEL: ReadonlySet<string> = new Set(['publish', 'subscribe'])

/** What a user must be allowed to use; what is absent is not asked about. */
export interface PlacesAsked {
  readonly keys?: readonly string[]
  readonly channels?: readonly string[]
}

/**
 * Resolves to the commands, or commands with a key or channel, that are refused or not there, of each server that is asked; empty when
 * none is, and before Redis 7, where a user cannot ask for its own rights.
 */
export async function missingRights(
  redis: RedisClient,
  roles: readonly RedisRole[],
  { keys = [], channels = [] }: PlacesAsked,
): Promise<readonly string[]> {
  const commands = [...new Set(roles.flatMap((role) => REDIS_RIGHTS[role].commands))]
  // `type` is a right of every role.
  const asked = [
    ...commands.flatMap((command) => askedFor(command, keys[0], channels)),
    ...keys.map((key) => `type\n${key}`),
  ]
  const missing = await Promise.all(mastersOf(redis).map((master) => script.run(master, [], asked)))
  return [
    ...new Set(
      missing.flatMap((refused) =>
        ((refused as string[] | null) ?? []).map((lines) => lines.replaceAll('\n', ' ')),
      ),
    ),
  ]
}

/** Resolves to those of these commands that have another name there, or none (rename-command): no right brings them back. Undefined: it may not be asked. */
export async function renamedOf(
  redis: RedisClient,
  missing: readonly string[],
): Promise<readonly string[] | undefined> {
  const names = [...new Set(missing.map((one) => one.split(/[ |]/)[0]!))]
  try {
    const known = (await mastersOf(redis)[0]!.call('COMMAND', 'INFO', ...names)) as unknown[]
    return names.filter((_name, n) => known[n] === null)
  } catch {
    return undefined
  }
}

/** Returns what to do about them. */
export function renamedCure(names: readonly string[]): string {
  return `${names.join(', ')} ${names.length === 1 ? 'has' : 'have'} another name there, or none (rename-command in its redis.conf), and a crawl needs ${names.length === 1 ? 'it' : 'them'}. Take these lines out, and restart it; to keep others from a command, give them a user without the right to it`
}

/** Keys and channels as a spider's crawls have them, one of each pattern of these roles; none where the spider is not known. */
export function examplesFor(roles: readonly RedisRole[], whose: RightsFor): PlacesAsked {
  if (whose.spider === undefined) return {}
  const examples = (of: 'keys' | 'channels') =>
    [...new Set(roles.flatMap((role) => REDIS_RIGHTS[role][of]))].map((pattern) =>
      patternFor(pattern, whose).replace('*', 'doctor'),
    )
  return { keys: examples('keys'), channels: examples('channels') }
}

/** Returns the questions for a right; none where it would have to be asked with a key, and none is known. */
function askedFor(command: string, key: string | undefined, channels: readonly string[]): string[] {
  const words = WITH_ARGUMENTS[command]
  if (words !== undefined) return key === undefined ? [] : [`${command}\n${key}\n${words}`]
  const named = command.replace('|', '\n')
  return WITH_CHANNEL.has(command) && channels.length > 0
    ? channels.map((channel) => `${named}\n${channel}`)
    : [named]
}
