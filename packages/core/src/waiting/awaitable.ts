/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/** Whether there is something to await. Without the question each page would cost a turn of the event loop for nothing. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
