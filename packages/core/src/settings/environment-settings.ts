/** Environment variables that other tools also use, and that have no prefix for that reason. */
export const UNPREFIXED_VARIABLES: ReadonlySet<string> = new Set([
  'REDIS_URL',
  'QUEUE_REDIS_URL',
  'DUPEFILTER_REDIS_URL',
  'SEEDS_REDIS_URL',
  'ITEMS_REDIS_URL',
  'FILTER_URL',
  'FILTER_HOST',
  'FILTER_PORT',
  'FILTER_DB',
  'LOG_LEVEL',
])

const PREFIX = 'WEBLOOM_'

/** Behind the prefix, and no settings: what they hold is nobody's but the command's that reads them. */
const NO_SETTINGS: ReadonlySet<string> = new Set(['DASH_TOKEN', 'SECRET_FLAGS'])

/**
 * Returns the settings in an environment: `WEBLOOM_<NAME>`, and a few names without the prefix. When both are set, the one
 * with the prefix wins, as it is meant for this program. An empty variable counts as absent: that is how compose files and
 * shells pass on what is not set. A name that is not a setting stays in, so that validation reports it.
 */
export function environmentSettings(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const given = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const plain = given.filter(([name]) => UNPREFIXED_VARIABLES.has(name))
  const prefixed = given
    .filter(([name]) => name.startsWith(PREFIX))
    .map(([name, value]) => [name.slice(PREFIX.length), value] as const)
    .filter(([name]) => !NO_SETTINGS.has(name))
  return Object.fromEntries([...plain, ...prefixed])
}

/** Returns those of these settings that stand in an environment without the prefix, where they are not read, and not with it either. */
export function unreadVariables(
  env: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): string[] {
  return settings.filter((name) => env[name] && !env[`${PREFIX}${name}`] && !UNPREFIXED_VARIABLES.has(name))
}

/** Returns the variable that sets this name, for messages. */
export function environmentVariable(name: string): string {
  return UNPREFIXED_VARIABLES.has(name) ? name : `${PREFIX}${name}`
}
