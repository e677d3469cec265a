/** What a Redis says that will not have us, in words. */

const REFUSALS: readonly { readonly pattern: RegExp; readonly words: string }[] = [
  {
    pattern: /^NOAUTH/,
    words:
      'it wants a password, and none is given. Write redis://:password@host:6379, or redis://user:password@host:6379',
  },
  {
    pattern: /^(?:WRONGPASS|ERR invalid password)/,
    words: 'it does not know that user with that password. Look at the setting that names the server',
  },
]

/** The server's own words, and what they mean where that is known. */
export function refusalInWords(message: string): string {
  const words = REFUSALS.find(({ pattern }) => pattern.test(message))?.words
  return words === undefined ? message : `${message}: ${words}`
}

/** Redis says it otherwise from release to release, and otherwise again of a command that a script runs. */
const NO_RIGHT = /^NOPERM|ACL failure in script|executing the script can't (?:run|access)/i
const NO_COMMAND = /unknown (?:redis )?command/i

interface Refused {
  /** The command, where it is known, and the server. */
  readonly asked: string
  /** What would give all rights that are needed there: see `aclLine`. */
  readonly aclLine: string
}

/** What a command needs that this Redis does not let us run; undefined when it refused it for another reason, or not at all. */
export function missingRight(message: string, { asked, aclLine }: Refused): string | undefined {
  if (NO_RIGHT.test(message))
    return `${message} (${asked}): the user has no right to that command, key or channel. Who is an administrator there gives all rights that Webloom needs with: ${aclLine} (docs/deploy.md says more)`
  if (NO_COMMAND.test(message))
    return `${message} (${asked}): the command is renamed or disabled there (rename-command), or this Redis is too old for it. Give it its name back; a user of its own needs no renamed commands: ${aclLine} (docs/deploy.md says more)`
  return undefined
}

/** Whether what `INFO cluster` says is said by a node of a Redis Cluster. */
export function isClusterNode(info: string): boolean {
  return /^cluster_enabled:1\s*$/m.test(info)
}
