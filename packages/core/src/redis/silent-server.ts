/**
 * Servers that are away and do not say so: the process stands still, or the network drops what is sent there. Nothing is closed
 * then, and each connection has to notice by itself. Where another server may take such a one's place (Sentinels, a cluster),
 * noticing late is what keeps a crawl waiting: https://redis.io/docs/latest/develop/reference/sentinel-clients/
 */

import type { Socket } from 'node:net'
import type { Cluster } from 'ioredis'
import type { RedisClient } from './redis-options.ts'

const ANSWER_MS = 1500

/**
 * Drops a connection that was made and to which no byte comes: the kernel of a server accepts connections while its process stands
 * still. It is tried again, where another server may be named by then.
 */
export function dropWhenUnanswered(redis: RedisClient, ms = ANSWER_MS): void {
  redis.on('connect', () => {
    const { stream } = redis as unknown as { readonly stream: Socket }
    const timer = setTimeout(() => {
      if (stream.bytesRead === 0) stream.destroy(new Error(`no answer within ${ms} ms of connecting`))
    }, ms)
    stream.once('close', () => clearTimeout(timer))
  })
}

/**
 * Makes a connection again whenever another one to the same server is lost. For one that only listens, or waits for long: it awaits
 * no reply, so a server that is silent looks to it like one that has nothing to tell.
 */
export function reconnectWith(redis: RedisClient, waiting: RedisClient): void {
  // A cluster goes on when one of its servers is lost, and tells of it as an error.
  const events = redis.isCluster ? ['close', 'error'] : ['close']
  let isFollowing = false
  const follow = () => {
    if (isFollowing) return
    isFollowing = true
    for (const event of events) redis.on(event, lost)
  }
  const leave = () => {
    isFollowing = false
    for (const event of events) redis.off(event, lost)
  }
  const lost = () => {
    if (waiting.status !== 'ready') return
    const streams = streamsOf(waiting)
    waiting.disconnect(true)
    // ioredis waits two seconds for a server to answer its farewell, with what is to be sent again.
    for (const stream of streams) stream?.destroy()
  }
  follow()
  // BullMQ ends one that has not answered, and has it connect again.
  waiting.on('connecting', follow).on('end', leave)
  // One that is ended between two tries to connect tells nobody.
  const disconnect = waiting.disconnect.bind(waiting)
  waiting.disconnect = (reconnect = false) => {
    if (!reconnect) leave()
    disconnect(reconnect)
  }
}

function streamsOf(redis: RedisClient): readonly (Socket | undefined)[] {
  const clients = redis.isCluster ? (redis as unknown as Cluster).nodes() : [redis]
  return clients.map((client) => (client as unknown as { readonly stream?: Socket }).stream)
}
