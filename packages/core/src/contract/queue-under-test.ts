/** What the contract suite of queues and its parts share. */

import assert from 'node:assert/strict'
import type { Lease, QueuedRequest, QueueOrder, RequestQueue } from '../ports/request-queue.ts'
import { Request } from '../requests/request.ts'
import type { RequestInit } from '../requests/request-parts.ts'

/**
 * The options that a test wants for its queue. By default: order priority, no delay, no bound on a host's requests in
 * flight.
 */
export interface QueueUnderTest {
  readonly order?: QueueOrder
  readonly delayMs?: number
  readonly concurrency?: number
}

export type Make = (options?: QueueUnderTest) => Promise<RequestQueue>

/** When a test gives up: no promise, so that a busy machine may take long. */
const PATIENCE_MS = 30_000

/** A request to a host. */
export const on = (host: string, path: string | number, init: RequestInit = {}): QueuedRequest => ({
  id: `${host}/${path}`,
  request: new Request(`http://${host}.test/${path}`, init),
})
export const ids = (leases: readonly { id: string }[]) => leases.map(({ id }) => id)

/** A link in doubt. */
export const inDoubt = (host: string, path: string | number): QueuedRequest => ({
  ...on(host, path),
  inDoubt: 'page',
})

/** Waits until so many links may be asked about: some queues hold a page's links back for a while. */
export async function takenInDoubt(queue: RequestQueue, count: number): Promise<QueuedRequest[]> {
  const taken: QueuedRequest[] = []
  for (const until = performance.now() + PATIENCE_MS; taken.length < count; ) {
    assert.ok(performance.now() < until, `only ${taken.length} are to be asked about`)
    taken.push(...(await queue.doubts.take(10)))
    // Waits: between two looks: the port tells nobody that links are ripe.
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return taken
}

/** Leases until there are so many. */
export async function leasedOf(queue: RequestQueue, count: number): Promise<Lease[]> {
  const leases: Lease[] = []
  for (const until = performance.now() + PATIENCE_MS; leases.length < count; ) {
    assert.ok(performance.now() < until, `only ${leases.length} of ${count} came`)
    const some = await queue.lease(count - leases.length)
    leases.push(...some)
    // Waits: a queue that is empty or closed answers at once, and nothing else in this process would run.
    if (some.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return leases
}

/** Leases and commits one request after the other until the queue holds none. */
export async function drain(queue: RequestQueue): Promise<string[]> {
  const order: string[] = []
  for (;;) {
    const [lease] = await queue.lease(1)
    if (!lease) return order
    order.push(lease.id)
    await queue.commit(lease)
  }
}
