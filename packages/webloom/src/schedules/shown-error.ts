import { withoutTextSecrets } from '@webloom/core'
import { stdSerializers } from 'pino'

/** An error as pino writes it, what has caused it in its stack. */
export interface ShownError {
  readonly type: string
  readonly message: string
  readonly stack: string
}

/** Hides the secrets of an error: what a component throws as it is made may have a password in it, and goes to chats and into logs. */
export function shownError(thrown: unknown): ShownError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const { type, stack } = stdSerializers.err(error)
  return { type, message: withoutTextSecrets(error.message), stack: withoutTextSecrets(stack) }
}
