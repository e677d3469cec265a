/** Lets the event loop handle timers, sockets and signals. */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
