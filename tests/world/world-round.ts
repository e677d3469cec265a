/** Many worlds, some at a time, with the same worker processes. */

import { type OnCommand, runWorld, type WorldResult } from './world.ts'
import { planOf } from './world-plan.ts'
import { WorkerPool } from './world-workers.ts'

export async function runWorlds(
  seeds: Iterable<string>,
  atOnce: number,
  onResult: (result: WorldResult) => void,
  onCommand?: OnCommand,
): Promise<void> {
  await using pool = new WorkerPool()
  const coming = seeds[Symbol.iterator]()
  const lane = async () => {
    for (let next = coming.next(); !next.done; next = coming.next())
      onResult(await runWorld(planOf(next.value), pool, onCommand))
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}
