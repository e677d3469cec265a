/** Which rights of those that Webloom needs a user of Redis has not: asked, before one of them ends a crawl in its middle. */

import {
  argumentsAsked,
  askMasters,
  luaScriptsIn,
  mastersOf,
  type RedisClient,
  type RedisRole,
} from '@webloom/core'
import { RIGHTS_CURE } from './redis-refusal.ts'
import { patternFor, REDIS_RIGHTS, type RightsFor } from './redis-rights.ts'
import { IsRefused } from './refusal.ts'

const script = luaScriptsIn(new URL('../../lua/', import.meta.url))('missing-rights.lua')

/** A right to a channel is one of its own: a user that was made by hand often has none. */
const WITH_CHANNEL: ReadonlySet<string> = new Set(['publish', 'subscribe'])

/** What a user must be allowed to use; what is absent is not asked about. */
export interface PlacesAsked {
  readonly keys?: readonly string[]
  readonly channels?: readonly string[]
}

/**
 * Resolves to the commands, and keys and channels, that are refused or not there, of each server that is asked; empty when none is, and before
 * Redis 7, where a user cannot ask for its own rights.
 *
 * @param whose crawls the user is for: commands are asked about with one of their keys where none is among the places
 */
export async function missingRights(
  redis: RedisClient,
  roles: readonly RedisRole[],
  { keys = [], channels = [] }: PlacesAsked,
  whose: RightsFor = {},
): Promise<readonly string[]> {
  const commands = [...new Set(roles.flatMap((role) => REDIS_RIGHTS[role].commands))]
  const missing = await askMasters(redis, async (master) => {
    // `type` is a right of every role.
    const places = [...keys, ...examples('keys', roles, whose)].map((key) => ['type', key])
    const closed = await refusedOf(master, places)
    const [open] = places.filter((place) => !closed.includes(place))
    const rights = commands.flatMap((command) => questionsFor(command, open?.[1], channels))
    const refused = await refusedOf(
      master,
      rights.map(({ asked }) => asked),
    )
    return [
      ...rights.filter(({ asked }) => refused.includes(asked)).map(({ right }) => right),
      ...closed.filter(([, key]) => keys.includes(key!)).map((place) => place.join(' ')),
    ]
  })
  return [...new Set(missing.flat())]
}

/** Resolves to why a user is refused that lacks rights, with the line that gives them; undefined when it has all. */
export async function rightsRefusal(
  redis: RedisClient,
  roles: readonly RedisRole[],
  places: PlacesAsked,
  whose: RightsFor,
  { shown, aclLine }: { readonly shown: string; readonly aclLine: string },
): Promise<IsRefused | undefined> {
  const missing = await missingRights(redis, roles, places, whose)
  if (missing.length === 0) return undefined
  const renamed = (await renamedOf(redis, missing)) ?? []
  if (renamed.length > 0) return new IsRefused(shown, { why: `${renamedCure(renamed)}. Nothing was written` })
  return new IsRefused(shown, {
    why: `its user may not run ${missing.join(', ')} (no right to it, or its name is another there). Nothing was written. ${RIGHTS_CURE}: ${aclLine} (docs/deploy.md says more)`,
  })
}

type Question = readonly string[]

async function refusedOf(master: RedisClient, questions: readonly Question[]): Promise<readonly Question[]> {
  const lines = questions.map((words) => words.join('\n'))
  const refused = ((await script.run(master, [], lines)) ?? []) as string[]
  return questions.filter((_words, n) => refused.includes(lines[n]!))
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
  return { keys: examples('keys', roles, whose), channels: examples('channels', roles, whose) }
}

/** Some have no spider in them. */
function examples(of: 'keys' | 'channels', roles: readonly RedisRole[], whose: RightsFor): readonly string[] {
  const patterns = new Set(roles.flatMap((role) => REDIS_RIGHTS[role][of]))
  return [...patterns].map((pattern) => patternFor(pattern, whose).replace('*', 'doctor'))
}

/** Redis 7.0 crashes when it is asked about these without a key. */
const WITH_KEY: ReadonlySet<string> = new Set(['set', 'bitfield'])

/** Returns the questions for a right, with what is missing where it is refused. */
function questionsFor(
  command: string,
  key: string | undefined,
  channels: readonly string[],
): readonly { readonly right: string; readonly asked: Question }[] {
  const words = command.split('|')
  const right = words.join(' ')
  const [, ...more] = argumentsAsked(command, 'x') ?? []
  if (WITH_CHANNEL.has(command))
    return channels.length === 0
      ? [{ right, asked: words }]
      : channels.map((channel) => ({ right: `${right} ${channel}`, asked: [...words, channel, ...more] }))
  const given = argumentsAsked(command, key) ?? []
  const isKnown = given.every((one) => one !== undefined)
  if (!isKnown && WITH_KEY.has(command)) return []
  return [{ right, asked: isKnown ? [...words, ...given] : words }]
}
