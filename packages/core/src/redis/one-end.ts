/**
 * Each time that ioredis ends a connection, it listens for its close once more; and Node takes eleven listeners for a leak. It ends one again and again
 *
 *     for each reply that asks for another one (READONLY): of a pipeline there are many.
 *     for each look for a node of a cluster to listen at, while none of them lets it: that by which it heard something last.
 */

import type { Cluster, Redis } from 'ioredis'

export function endEachOnce(client: Redis): void {
  const disconnect = client.disconnect.bind(client)
  let ended: unknown
  client.disconnect = (reconnect = false) => {
    const { stream } = client as unknown as { readonly stream?: unknown }
    if (reconnect && stream !== undefined && stream === ended) return
    ended = stream
    disconnect(reconnect)
  }
}

/** As ioredis's client has it; the type keeps it from us. */
interface Listening {
  readonly subscriber: { selectSubscriber(): void; getInstance(): Redis | null }
}

/** Ends a connection by which a cluster listens once; each is used once. */
export function endListenersOnce(cluster: Cluster): void {
  const { subscriber } = cluster as unknown as Listening
  const select = subscriber.selectSubscriber.bind(subscriber)
  subscriber.selectSubscriber = () => {
    select()
    const client = subscriber.getInstance()
    if (client) endOnce(client)
  }
}

function endOnce(client: Redis): void {
  const disconnect = client.disconnect.bind(client)
  client.disconnect = () => {
    client.disconnect = () => {}
    disconnect()
  }
}
