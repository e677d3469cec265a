/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/**
 * Returns whether there is something to await. Awaiting plain values would cost each page a turn of the event loop. It is asked of
 * values of many kinds: `'then' in value` before would take V8 longer than all the rest.
 */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
