// Longer timers fire at once: Node counts in 32 bits.
export const TIMER_MS_MAX = 2 ** 31 - 1

/** The answer of a step that is somebody else's code and may never end; rejects when it takes longer than `timeoutMs`. */
export async function inTime<T>(what: string, step: () => T | Promise<T>, timeoutMs: number): Promise<T> {
  let deadline: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    deadline = setTimeout(
      () =>
        reject(
          new Error(`${what} took longer than COMPONENT_TIMEOUT, ${timeoutMs / 1000} s, and is given up`),
        ),
      Math.min(timeoutMs, TIMER_MS_MAX),
    )
  })
  try {
    return await Promise.race([step(), late])
  } finally {
    clearTimeout(deadline)
  }
}
