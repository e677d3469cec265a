/**
 * Keeps the heap of a process that is not ours from growing to four times what is in use, while `crawl()` runs in it.
 *
 * On a machine with 4 GB or more V8 begins its next collection of old objects when there are four times as many bytes as the last one
 * left. Of a crawl that has 60 MB in use, and makes garbage that has become old, up to 530 MB were resident so. The command line sets
 * V8's flags (`flat-memory.ts`); `crawl()` must not, since they hold for all that the process does, and beyond the crawl.
 *
 * V8 also counts the memory that buffers have outside of its heap, and when much has been added to that, it begins a collection, by the same steps
 * as any: other threads do most of the marking, and the pauses are no longer. So when enough has been added to the heap, a buffer
 * larger than that is made and freed at once. Nobody writes to it, so the system gives it addresses and no memory, and its bytes are
 * counted no longer than the call takes.
 *
 * It happens only when what a collection leaves is small: then it costs a few milliseconds. The heap of a program that has
 * more in use than a crawl is left to V8, and so is one that V8 keeps small already, on a smaller machine, in a container, or by flags.
 * Nothing here has a timer: V8 tells when it has collected the young objects, and only then the heap is looked at.
 *
 * Not chosen, with figures in docs/decisions/flat-memory.md: `v8.queryObjects` and the inspector's `collectGarbage`, which stop the process for the
 * whole of a collection.
 */

import {
  constants,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
} from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'

const MB = 2 ** 20

/** V8 begins a collection when buffers have 64 MB more than the least that they had since the last one: Node 22, 24 and 26. */
const UNTOUCHED_BYTES = 80 * MB

/** A program with more in use than this is left to V8. A crawl has 40 to 75 MB on the heap, and 15 in buffers. */
const IN_USE_BYTES_MAX = 128 * MB

/** Below it, V8's own rule is 1.3 to 2 times what is in use: it is that of machines with less than 4 GB, and of `--max-old-space-size`. */
const HEAP_LIMIT_BYTES_MIN = 2048 * MB

/** What may be added to what a collection left, as a part of it, until the next one. */
const GROWTH = 0.75

/** Young objects come and go, so that even a small heap grows and shrinks by that much without any garbage that is old. */
const GROWTH_BYTES_MIN = 32 * MB

/** What `node:v8` tells of a heap, as far as it matters here. */
export interface HeapUse {
  readonly used_heap_size: number
  /** Memory of buffers, outside of the heap. */
  readonly external_memory: number
}

/** True when a collection is worth its time: much was added to what little the last one left. */
export function isWorthCollecting(left: HeapUse, now: HeapUse): boolean {
  const isSmall = left.used_heap_size + now.external_memory <= IN_USE_BYTES_MAX
  const growth = Math.max(GROWTH_BYTES_MIN, left.used_heap_size * GROWTH)
  return isSmall && now.used_heap_size > left.used_heap_size + growth
}

let crawls = 0
let watch: HeapWatch | undefined

/** Has V8 collect early until it is disposed of. Crawls side by side in a process share one watch of its heap. */
export function collectEarly(): Disposable {
  if (crawls++ === 0 && getHeapStatistics().heap_size_limit >= HEAP_LIMIT_BYTES_MIN) watch = new HeapWatch()
  const ended = () => {
    if (--crawls > 0) return
    watch?.end()
    watch = undefined
  }
  return { [Symbol.dispose]: ended }
}

class HeapWatch {
  /** What the last collection of old objects left; what is there now, until the first one is seen. */
  #left: HeapUse = getHeapStatistics()
  /** V8 was asked since then: the collection is under way. */
  #wasAsked = false
  readonly #observer = new PerformanceObserver((list) => this.#look(list.getEntries().some(isOfOldObjects)))

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  end(): void {
    this.#observer.disconnect()
  }

  #look(oldWereCollected: boolean): void {
    const now = getHeapStatistics()
    if (oldWereCollected) {
      this.#left = now
      this.#wasAsked = false
    } else if (!this.#wasAsked && isWorthCollecting(this.#left, now)) {
      this.#wasAsked = true
      if (!askForCollection()) this.end()
    }
  }
}

/** Entries of collections have a `detail`, which Node's types leave out. */
function isOfOldObjects({
  detail,
}: PerformanceEntry & { readonly detail?: NodeGCPerformanceDetail }): boolean {
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR
}

/** False when the system has no addresses left for a process (`ulimit -v`, `vm.overcommit_memory=2`): V8 is then left alone. */
function askForCollection(): boolean {
  try {
    new ArrayBuffer(UNTOUCHED_BYTES).transfer(0)
    return true
  } catch {
    return false
  }
}
