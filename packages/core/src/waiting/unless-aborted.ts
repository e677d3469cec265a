/**
 * Resolves to the result of `work`, or to undefined as soon as `signal` fires: a Redis that is away must not delay a worker
 * that is told to leave. `work` itself goes on, and its later error is ignored.
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
