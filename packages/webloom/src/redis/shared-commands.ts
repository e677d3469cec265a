/** Which commands a connection that a whole crawl shares does not take, and why. */

/** A command as ioredis sends it; `call()` may be given bytes for its name. */
interface Asked {
  readonly name: unknown
  readonly args: readonly unknown[]
}

const WAITS = 'may wait for ever'
const LISTENS = 'leaves the connection to one listener'
const OTHER_STATE = 'changes what the connection does for others'
export const ENDS = 'ends the connection'

const WHY: Readonly<Record<string, string>> = {
  blpop: WAITS,
  brpop: WAITS,
  blmove: WAITS,
  blmpop: WAITS,
  brpoplpush: WAITS,
  bzpopmin: WAITS,
  bzpopmax: WAITS,
  bzmpop: WAITS,
  wait: WAITS,
  waitaof: WAITS,
  subscribe: LISTENS,
  psubscribe: LISTENS,
  ssubscribe: LISTENS,
  monitor: LISTENS,
  watch: 'makes transactions of others fail',
  multi: 'takes the commands of others into its transaction (multi() without {pipeline: false} does not)',
  auth: OTHER_STATE,
  hello: OTHER_STATE,
  reset: OTHER_STATE,
  quit: ENDS,
  shutdown: 'ends Redis',
}

const CLIENT: Readonly<Record<string, string>> = {
  kill: 'ends connections',
  pause: 'holds up all clients of that Redis',
  reply: 'takes the answers of others away',
  tracking: OTHER_STATE,
  caching: OTHER_STATE,
}

/** Returns why the connection does not take a command, with its name; undefined when it takes it. */
export function sharedRefusal({ name, args }: Asked, db: number): string | undefined {
  const asked = lower(name)
  const why = reasonOf(asked, args, db)
  if (why === undefined) return undefined
  return `${(asked === 'client' ? `${asked} ${lower(args[0])}` : asked).toUpperCase()} ${why}`
}

function reasonOf(asked: string, args: readonly unknown[], db: number): string | undefined {
  if (Object.hasOwn(WHY, asked)) return WHY[asked]
  if (asked === 'select') return Number(args[0]) === db ? undefined : 'leads to another database'
  if (asked === 'xread' || asked === 'xreadgroup')
    return readsWithBlock(args) ? `with BLOCK ${WAITS}` : undefined
  const subcommand = asked === 'client' ? lower(args[0]) : ''
  return Object.hasOwn(CLIENT, subcommand) ? CLIENT[subcommand] : undefined
}

/** Options stand before STREAMS; a group and a consumer may have any name. */
function readsWithBlock(args: readonly unknown[]): boolean {
  for (let at = 0; at < args.length; at++) {
    const word = lower(args[at])
    if (word === 'block') return true
    if (word === 'streams') return false
    if (word === 'group') at += 2
  }
  return false
}

function lower(word: unknown): string {
  return String(word).toLowerCase()
}
