/**
 * A Lua script of ours that did not do what it was asked, and has written nothing for it, says so by
 * `return redis.error_reply('WEBLOOM_<CODE> <detail>')`: no word that Redis itself, or a Redis Cluster, begins a reply with.
 * The detail must be there: Redis 7 writes ERR before a reply of one word.
 */
export class ScriptRefusal extends Error {
  override readonly name = 'ScriptRefusal'
  /** What stands behind `WEBLOOM_`, as LAYERS: each script explains its own. */
  readonly code: string
  /** The rest of the reply. */
  readonly detail: string

  constructor(code: string, detail: string, options?: ErrorOptions) {
    super(`${code}: ${detail}`, options)
    this.code = code
    this.detail = detail
  }
}

/** What a connection to Redis has thrown for a script, as a `ScriptRefusal`; undefined when the script has not refused. */
export function scriptRefusal(error: unknown): ScriptRefusal | undefined {
  const said = error instanceof Error && /^WEBLOOM_([A-Z]+) (.*)$/s.exec(error.message)
  return said ? new ScriptRefusal(said[1]!, said[2]!, { cause: error }) : undefined
}
