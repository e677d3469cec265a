import { ensureChromium, findChromium } from '../../packages/testkit/src/index.ts'

/** Gets a Chromium for the run, before the first test, as `redis.ts` gets a Redis: a test’s own time is too short for it. */
export async function setup(): Promise<void> {
  try {
    if (!findChromium()) console.log('No Chromium here: getting one, as a package.')
    await ensureChromium()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
  }
}
