import { ensureRedisServer, findRedis } from '../../packages/testkit/src/index.ts'

/**
 * Gets a Redis for the run, before the first test. Where there is none, the other tests still run: those that
 * need one fail with the same message.
 */
export async function setup(): Promise<void> {
  try {
    if (!(await findRedis())) console.log('No redis-server here: getting one, as a package or as an image.')
    await ensureRedisServer()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
  }
}
