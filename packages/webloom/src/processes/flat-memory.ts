import { setFlagsFromString } from 'node:v8'

/**
 * Keeps the memory of a process that crawls from growing although nothing is kept. For a process of one's own, as the
 * command line's is: these are settings of V8, made once, before the crawl.
 *
 * V8 doubles the room for young objects again and again in a long run, up to 100 MiB; here it stays as it is when a crawl
 * begins: loading modules has taken it to two halves of 16 MiB by then. Old ones it collects when they have become a
 * multiple of what was left the last time; here when there is a third as much more. And one thread collects the young ones: with halves
 * of that size several cost more to wake than they save, and each keeps pages of its own.
 *
 * Its compilers run in four threads, and the C library keeps for each thread what its largest compilation took. So they compile smaller pieces:
 * functions are not inlined when code is first optimized (they are the second time), and the loops of WebAssembly, which undici's parser is made of, are not unrolled.
 *
 * A worker takes a third less memory so, for a few per cent more CPU, and in a broad crawl half of it, for a quarter more: figures, and what would end
 * it, in docs/decisions/flat-memory.md.
 */
export function keepMemoryFlat(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=35')
  setFlagsFromString('--no-parallel-scavenge')
  setFlagsFromString('--no-maglev-inlining')
  setFlagsFromString('--no-wasm-loop-unrolling')
}
