import { runProcess } from '@webloom/testkit'
import { expect, test } from 'vitest'

/** As on a machine with 16 GB: there V8 begins a collection by itself at four times what is in use, and room for young objects. */
const HEAP_LIMIT_MB = 4096

/** A crawl that makes objects which become old and then garbage, until V8 has collected them. */
const PROGRAM = `
  import { constants, PerformanceObserver } from 'node:perf_hooks'
  import { setTimeout as sleep } from 'node:timers/promises'
  import { getHeapStatistics, setFlagsFromString } from 'node:v8'
  import { runInNewContext } from 'node:vm'
  import { crawl, Spider } from 'webloom'

  const usedMb = () => getHeapStatistics().used_heap_size / 2 ** 20
  const objects = (mb) => Array.from({ length: mb * 1000 }, () => Array.from({ length: 128 }, Math.random))

  class Garbage extends Spider {
    name = 'garbage'
    async *start() {
      this.inUse = objects(30)
      setFlagsFromString('--expose-gc')
      runInNewContext('gc')()
      const leftMb = usedMb()
      const now = performance.now()
      const isMajor = ({ detail, startTime }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR && startTime > now
      let isCollected = false
      const majors = new PerformanceObserver((list) => {
        isCollected ||= list.getEntries().some(isMajor)
      })
      majors.observe({ entryTypes: ['gc'] })
      let mostMb = 0
      for (const held = []; !isCollected; mostMb = Math.max(mostMb, usedMb())) {
        held.push(objects(0.1))
        if (held.length > 300) held.shift()
        await sleep(1) // Waits: V8 marks meanwhile; 100 KB of garbage a turn are more than a crawl makes.
      }
      majors.disconnect()
      console.log(JSON.stringify({ leftMb, mostMb, arrayBuffers: process.memoryUsage().arrayBuffers }))
    }
  }
  await crawl(Garbage, { settings: { LOG_ENABLED: false } })`

test('crawl() has garbage among the old objects collected before V8 would, in a process that then ends as ever', async () => {
  const args = [`--max-old-space-size=${HEAP_LIMIT_MB}`, '--input-type=module', '--eval', PROGRAM]
  const { code, stdout, stderr } = await runProcess(process.execPath, args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { leftMb, mostMb, arrayBuffers } = JSON.parse(stdout)
  expect(mostMb).toBeLessThan(4 * leftMb)
  expect(arrayBuffers).toBeLessThan(2 ** 20)
})
