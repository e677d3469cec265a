/**
 * A node of a cluster that is lost, and what waits for it. ioredis connects to it again and again, as long as the slots that it knows say so, and asks for them only once
 * that has failed: first of a node taken at random, which may be the one that is silent. So a command got to a replica that had taken the node's place
 * up to three seconds later:
 *
 *     connecting to the node, as the slots still say      1.5 s (`connectTimeout`)
 *     asking that node who has its slots                  1 s (`slotsRefreshTimeout`)
 *     its connection is told to end, and does not         2 s (`disconnectTimeout`), where the slots become known by chance
 *
 * Here the others are asked twice a second, the lost one is passed over as long as there are others, and its connection is dropped as soon as
 * it has no slots any more. Each failed connection to it says again that it is lost; when none has failed for a while it counts as any other, as ioredis
 * connects to nodes alone that something is sent to. https://github.com/redis/ioredis/blob/main/lib/cluster/index.ts
 */

import type { Socket } from 'node:net'
import type { Cluster, Redis } from 'ioredis'

const ASKED_EVERY_MS = 500
const SLOTS_MS_MAX = 1000
/** Of ioredis. */
const CONNECT_MS_MAX = 10_000

/** ioredis says so of a connection that was lost, and sends again what waited for it, as soon as it knows where to. */
export const CLOSED = 'Connection is closed.'

/** As ioredis's client has it; the type keeps it from us. */
interface Asking {
  /** Asks the node for all slots. */
  getInfoFromNode(node: Redis | undefined, told: (error?: Error | null) => void): void
}

const PASSED_OVER = new Error(CLOSED)

/** Returns whether it tells nothing new: the node has been told to be lost. */
export function isPassedOver(error: Error): boolean {
  return error === PASSED_OVER
}

/** Has commands leave a lost node soon after another one has taken its place. */
export function leaveLostNodes(cluster: Cluster): void {
  const asking = cluster as unknown as Asking
  const ask = asking.getInfoFromNode.bind(cluster)
  /** By place: when a connection to it, or a question, failed last. */
  const lost = new Map<string, number>()
  const { connectTimeout = CONNECT_MS_MAX } = cluster.options.redisOptions ?? {}
  const lostMs = 2 * (connectTimeout + SLOTS_MS_MAX)
  const isLost = (place: string) => lost.has(place) && lost.get(place)! > performance.now() - lostMs
  let timer: NodeJS.Timeout | undefined

  const hasLostMaster = () =>
    lost.size > 0 && cluster.slots.some((nodes) => nodes?.[0] !== undefined && isLost(nodes[0]))
  const lookLater = () => {
    if (timer || cluster.status !== 'ready' || !hasLostMaster()) return
    timer = setTimeout(() => {
      timer = undefined
      if (cluster.status === 'ready' && hasLostMaster()) cluster.refreshSlotsCache(lookLater)
    }, ASKED_EVERY_MS).unref()
  }

  cluster.on('node error', (error: Error, place: string) => {
    if (isPassedOver(error)) return
    for (const old of lost.keys()) if (!isLost(old)) lost.delete(old)
    lost.set(place, performance.now())
    lookLater()
  })
  cluster.on('ready', lookLater)
  cluster.on('+node', (node) => {
    const place = placeOf(node)
    node.on('ready', () => lost.delete(place))
    const disconnect = node.disconnect.bind(node)
    node.disconnect = (reconnect = false) => {
      disconnect(reconnect)
      if (!reconnect && isLost(place)) (node as unknown as { readonly stream?: Socket }).stream?.destroy()
    }
  })
  asking.getInfoFromNode = (node, told) => {
    const place = node && placeOf(node)
    if (place && isLost(place) && cluster.nodes().some((other) => !isLost(placeOf(other))))
      return told(PASSED_OVER)
    ask(node, (error) => {
      if (place && !error) lost.delete(place)
      told(error)
    })
  }
}

/** Returns the node's name among a cluster's nodes. */
export function placeOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`
}
