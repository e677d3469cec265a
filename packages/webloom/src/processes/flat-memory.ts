import { setFlagsFromString } from 'node:v8'

/**
 * Keeps the memory of a process that crawls from growing although nothing is kept. For a process of one's own, as the
 * command line's is: these are settings of V8, made once, before the crawl.
 *
 * V8 doubles the room for young objects again and again in a long run, up to 100 MiB; here it stays as it is when a crawl
 * begins: loading modules has taken it to two halves of 16 MiB by then. Old ones it collects when they have become a
 * multiple of what was left the last time; here when there is half as much more.
 *
 * `benchmarks/worker-memory-bench.ts` on 2026-11-22, two cores that others used, too: the most resident memory, and CPU a page,
 * with V8's own settings and with these.
 *
 *     pages of 7.4 KB, queue in the process    470 to 479 MB and 0.27 to 0.28 ms    243 to 244 MB and 0.32 ms
 *     pages of 7.4 KB, queue on Redis          455 to 484 MB and 0.44 to 0.45 ms    230 to 244 MB and 0.52 to 0.53 ms
 *     pages of 3 MB                            372 MB and 27 ms                     273 MB and 33 ms
 *
 * So a machine has room for twice the workers, for a sixth more CPU a page. Not also `--optimize-for-size` while large pages are
 * about, as it was before: 213 MB in the last line, and 57 ms. In two of three runs in the first
 * line it seems to have fired, too: memory fell to 163 and 177 MB, and CPU rose to 0.45 and 0.47 ms.
 */
export function keepMemoryFlat(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=50')
}
