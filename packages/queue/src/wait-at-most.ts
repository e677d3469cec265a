/** Waits for `done`, however it ends, but no longer than `ms`. */
export async function waitAtMost(ms: number, done: Promise<unknown> | undefined): Promise<void> {
  let late: NodeJS.Timeout | undefined
  const timeout = new Promise((resolve) => {
    late = setTimeout(resolve, ms)
  })
  await Promise.race([done?.catch(() => {}), timeout])
  clearTimeout(late)
}
