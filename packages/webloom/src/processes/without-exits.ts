/**
 * Does something that calls an author's code, where `process.exit()` of that code must not end what others need. It throws instead, in whoever
 * has called it.
 */
export async function withoutExits<T>(act: () => Promise<T>): Promise<T> {
  const { exit } = process
  process.exit = (code) => {
    throw new Error(
      `process.exit(${code ?? ''}) was called, which would end the crawls of all other spiders. Throw an Error instead`,
    )
  }
  try {
    return await act()
  } finally {
    process.exit = exit
  }
}
