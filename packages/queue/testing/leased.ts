import type { Lease, RequestQueue } from '@webloom/core'

/** Leases until it has got as many; fails when that takes too long. */
export async function leased(
  queue: Pick<RequestQueue, 'lease'>,
  count: number,
  ms = 45_000,
): Promise<Lease[]> {
  const leases: Lease[] = []
  const deadline = performance.now() + ms
  while (leases.length < count) {
    leases.push(...(await queue.lease(count - leases.length)))
    if (performance.now() > deadline)
      throw new Error(`leased only ${JSON.stringify(leases.map(({ id }) => id))} in ${ms} ms`)
  }
  return leases
}
