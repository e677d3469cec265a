import type { Redis } from 'ioredis'

/** Resolves to the time of a server's own clock, in whole milliseconds: the clock by which all workers of a crawl judge each other. */
export async function redisNowMs(redis: { time(): ReturnType<Redis['time']> }): Promise<number> {
  const [seconds, microseconds] = await redis.time()
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000)
}
