/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/** Returns whether there is something to await. Awaiting plain values would cost each page a turn of the event loop. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
