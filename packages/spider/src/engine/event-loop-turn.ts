/** Lets timers, sockets and signals have their turn. */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
