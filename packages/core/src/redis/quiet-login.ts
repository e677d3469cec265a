/**
 * The password is an argument of the command that ioredis logs in with, and a reply's error has the command's arguments as fields: a
 * server that refuses it would bring the password into every log. ioredis gives that error to all commands that wait, too.
 */

import type { Redis } from 'ioredis'

/** As ioredis's commands have it; the type keeps it from us. */
interface Rejected {
  reject(error: LoginError): void
  resolve(answer: string): void
}

type LoginError = Error & { command?: { args: readonly unknown[] } }

/**
 * Takes the arguments out of the errors of AUTH and HELLO. A password where none is needed is no error, as HELLO has it: of AUTH ioredis writes a
 * line of its own to stderr, past our log, and goes on.
 *
 * @param onRefused hears of a login that was refused, before whoever waits for the connection
 */
export function quietLogin(client: Redis, onRefused: (error: Error) => void = () => {}): void {
  const send = client.sendCommand.bind(client)
  client.sendCommand = (...sent) => {
    const [{ name }] = sent
    if (name === 'hello' || name === 'auth') rejectsWithoutArgs(sent[0] as unknown as Rejected, onRefused)
    return send(...sent)
  }
}

function rejectsWithoutArgs(command: Rejected, onRefused: (error: Error) => void): void {
  const reject = command.reject.bind(command)
  command.reject = (error) => {
    if (error.command) error.command.args = []
    if (isUnneeded(error)) return command.resolve('OK')
    if (isLoginReply(error)) onRefused(error)
    reject(error)
  }
}

/** The default user has no password. */
function isUnneeded({ message }: Error): boolean {
  return /no password is set|without any password configured for the default user/.test(message)
}

/** As ioredis's client has it; the type keeps it from us. */
interface Recovering {
  recoverFromFatalError(told: Error, error: Error, flushed?: Flushed): void
}

interface Flushed {
  readonly offlineQueue?: boolean
}

/**
 * Has commands wait while a server does not let us in, as while it is away. Of itself ioredis rejects at each refused login what has been sent
 * since the connection was lost.
 *
 * @param waits for that refusal
 */
export function waitForLogin(client: Redis, waits: (error: Error) => boolean): void {
  const recovering = client as unknown as Recovering
  const recover = recovering.recoverFromFatalError.bind(client)
  recovering.recoverFromFatalError = (told, error, flushed = {}) =>
    recover(told, error, isLoginReply(error) && waits(error) ? { ...flushed, offlineQueue: false } : flushed)
}

/** Returns whether an error is the reply to a login that was refused, or to a command without one. */
export function isLoginReply({ message }: { readonly message: string }): boolean {
  return /^(?:NOAUTH|WRONGPASS|ERR invalid password)/.test(message)
}

/** Not a field of theirs: errors are logged whole. */
const LOCKED_OUT = new WeakSet<Error>()

/** Notes that an error says, in our words, that a Redis does not let this process in. */
export function markLockedOut(error: Error): void {
  LOCKED_OUT.add(error)
}

/** Returns whether something failed because a Redis does not let this process in. The crawl ends for that, and says so once. */
export function isLockedOut(error: unknown): boolean {
  return (
    error instanceof Error && [error, error.cause].some((one) => one instanceof Error && LOCKED_OUT.has(one))
  )
}
