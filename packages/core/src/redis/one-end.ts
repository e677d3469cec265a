/**
 * Each reply that asks for another connection (READONLY) has ioredis end the one that it came by, and listen for its close once more. Of a
 * pipeline there are many, and Node takes so many listeners for a leak.
 */

import type { Redis } from 'ioredis'

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
