import { type HostPace, PROTOCOL_TIMES } from '@webloom/core'
import { FrontierMachine, type FrontierMachineOptions } from '../src/frontier/frontier-machine.ts'
import type { TurnJob } from '../src/frontier/turn-protocol.ts'

/** Returns a machine whose slots have one pace and one bucket, and whose pages open no documents. */
export function machineOf(pace: HostPace, more: Partial<FrontierMachineOptions> = {}): FrontierMachine {
  return new FrontierMachine({
    times: PROTOCOL_TIMES.turns,
    pace: () => pace,
    usualPace: pace,
    bucketOf: () => '#1',
    buckets: () => 256,
    onStart: () => {},
    documentsOf: () => {
      throw new Error('no page opens documents')
    },
    ...more,
  })
}

/** Returns a unit's first lane, as BullMQ hands it out. */
export function firstLane(unit: string, lockedUntilMs = Number.POSITIVE_INFINITY): TurnJob {
  return { unit, lane: '0', generation: '1', lockToken: 'w/1', job: `${unit}~0~1`, lockedUntilMs }
}
