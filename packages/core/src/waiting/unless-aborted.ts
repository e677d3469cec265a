/**
 * Resolves to the result of `work`, or to undefined as soon as `signal` fires: a Redis that is away must not hold up somebody
 * who is asked to leave. `work` goes on, and what it then throws is of no interest.
 */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  let onAbort = () => {}
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined)
    signal.addEventListener('abort', onAbort)
  })
  try {
    return await Promise.race([signal.aborted ? undefined : work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
    work.catch(() => {})
  }
}
