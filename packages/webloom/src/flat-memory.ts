import { setFlagsFromString } from 'node:v8'

/** Bodies that are being received hold more than this together, bytes: there are large pages about. */
const LARGE_BODIES_BYTES = 8 * 1_048_576
/** A large page arrives in some hundred milliseconds. */
const LOOK_EVERY_MS = 100
/** How long after the last of them garbage is still collected early. */
const CALM_AFTER_MS = 30_000

/**
 * Keeps the memory of a process that crawls from growing although nothing is kept. For a process of one's own, as the
 * command line's is: these are settings of V8.
 *
 * V8 doubles the room for young objects again and again in a long run, up to 100 MiB; here it stays as it is at first. Old
 * ones it collects when they have become a multiple of what was left the last time; here when there is half as much more (a
 * worker on Redis had 320 MB, and has 240). And it lets garbage lie as long as it thinks there is room: with large pages,
 * each of which leaves tens of megabytes, the process would become half as large again, so while there are any it is told to
 * save memory. Not always: then it collects so often that a worker on Redis, with its many small answers, needs two thirds
 * more CPU for a page.
 */
export function keepMemoryFlat(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=50')
  let savesUntilMs = 0
  setInterval(() => {
    const now = performance.now()
    if (process.memoryUsage().arrayBuffers > LARGE_BODIES_BYTES) {
      if (savesUntilMs === 0) setFlagsFromString('--optimize-for-size')
      savesUntilMs = now + CALM_AFTER_MS
    } else if (savesUntilMs > 0 && now > savesUntilMs) {
      setFlagsFromString('--no-optimize-for-size')
      savesUntilMs = 0
    }
  }, LOOK_EVERY_MS).unref()
}
