import { type Awaitable, withDeadline } from '@webloom/core'

/** Settles as a step that is not our code and may never end; rejects when it takes longer than `timeoutMs`. */
export async function inTime<T>(what: string, step: () => Awaitable<T>, timeoutMs: number): Promise<T> {
  const late = () =>
    new Error(`${what} took longer than COMPONENT_TIMEOUT, ${timeoutMs / 1000} s, and is given up`)
  return withDeadline(timeoutMs, Promise.resolve(step()), late)
}
