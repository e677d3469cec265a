/**
 * `webloom` with the protocol's times multiplied by PROTOCOL_TIMES_FACTOR: workers that are killed, cut off or refused are
 * missed after one second instead of eight. See `ClusterFolder`.
 */

import { scaledTimes } from '@webloom/core'

// What is built is run, as by the real command.
const CLI = '../../packages/webloom/dist/cli.js'
const { main } = (await import(CLI)) as typeof import('../../packages/webloom/src/cli.ts')
await main(process.argv, scaledTimes(Number(process.env.PROTOCOL_TIMES_FACTOR)))
