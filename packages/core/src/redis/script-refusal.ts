/**
 * The refusal of a Lua script of ours, which then has written nothing. The script returns
 * `redis.error_reply('WEBLOOM_<CODE> <detail>')`: neither Redis nor a Redis Cluster begins a reply of its own with that word.
 * The detail must be there, as Redis 7 writes ERR before a reply of one word.
 */
export class ScriptRefusal extends Error {
  override readonly name = 'ScriptRefusal'
  /** The word after `WEBLOOM_`, such as LAYERS. Each script explains its own codes. */
  readonly code: string
  /** The rest of the reply. */
  readonly detail: string

  constructor(code: string, detail: string, options?: ErrorOptions) {
    super(`${code}: ${detail}`, options)
    this.code = code
    this.detail = detail
  }
}

/** Returns the `ScriptRefusal` in an error of a connection to Redis; undefined when no script has refused. */
export function scriptRefusal(error: unknown): ScriptRefusal | undefined {
  const said = error instanceof Error && /^WEBLOOM_([A-Z]+) (.*)$/s.exec(error.message)
  return said ? new ScriptRefusal(said[1]!, said[2]!, { cause: error }) : undefined
}
