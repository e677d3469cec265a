/** What `webloom doctor` says of a Redis Cluster as a whole; of each master it says what it says of any server. */

import type { RedisAddress } from '@webloom/core'
import type { ClusterSeen } from '../redis/cluster-look.ts'
import type { CheckResult, CheckResults } from './check-result.ts'

/**
 * @param named the cluster, for people
 * @param userLine gives a node the user that it lacks
 */
export function clusterResults(
  { nodes, troubles, answers }: ClusterSeen,
  named: string,
  userLine: (at: RedisAddress) => string,
): CheckResults {
  const check = 'Redis cluster'
  const results = troubles.map(({ why, type, lockedAt, isFatal }): CheckResult => {
    const line = lockedAt ? userLine(lockedAt) : type
    return { check, state: isFatal ? 'fail' : 'warn', found: `${why} (${named})`, type: line }
  })
  if (!answers || nodes.some(({ isMaster }) => !isMaster)) return results
  const found = `${named} has no replica: a node that is lost takes its part of the crawls with it, until it is back`
  return [...results, { check, state: 'info', found }]
}
