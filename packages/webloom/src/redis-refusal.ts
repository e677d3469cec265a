/** What a Redis says that will not have us, in words. */

interface Refusal {
  readonly pattern: RegExp
  readonly words: string
}

const REFUSALS: readonly Refusal[] = [
  {
    pattern: /^NOAUTH/,
    words:
      'it wants a password, and none is given. Write redis://:password@host:6379, or redis://user:password@host:6379',
  },
  {
    pattern: /^(?:WRONGPASS|ERR invalid password)/,
    words: 'it does not know that user with that password. Look at the setting that names the server',
  },
  {
    pattern: /^NOPERM|unknown command/,
    words:
      'the user may not run that command, or it is renamed or disabled there. ACL SETUSER gives the right',
  },
]

/** The server's own words, and what they mean where that is known. */
export function refusalInWords(message: string): string {
  const words = REFUSALS.find(({ pattern }) => pattern.test(message))?.words
  return words === undefined ? message : `${message}: ${words}`
}

/** Whether what `INFO cluster` says is said by a node of a Redis Cluster. */
export function isClusterNode(info: string): boolean {
  return /^cluster_enabled:1\s*$/m.test(info)
}
