import { startRedis } from '@webloom/testkit'
import { test } from 'vitest'
import { writeFileSync } from 'node:fs'
import { CommandNames, cutRepliesOf, FaultCrawl, killedAt } from './cluster-faults.ts'
const mode = (process.env.QMODE ?? 'turns') as 'turns'
const SKIP = new Set(['HELLO', 'CLIENT'])
test('each', { timeout: 1_500_000 }, async () => {
  const names = new CommandNames()
  await using queue = await startRedis()
  await using filter = await startRedis()
  const servers = { queue, filter }
  let life: string[]
  {
    await using crawl = await FaultCrawl.of({ ...servers, crawlId: 'life', mode, names })
    life = [...(await crawl.commandCounts()).keys()].filter((n) => !SKIP.has(n)).sort()
    console.log(life.join(', '))
  }
  const what = process.env.WHAT!.split(',')
  const cases: [string, string, number][] = []
  for (const w of what) for (const name of life) for (const nth of (process.env.NTH ?? '1').split(',').map(Number)) if (!process.env.ONLY || process.env.ONLY.split(',').includes(name)) cases.push([w, name, nth])
  let next = 0
  const run = async () => {
    while (next < cases.length) {
      const n = next++
      const [w, name, nth] = cases[n]!
      const t = performance.now()
      let out: string
      const opts = { ...servers, crawlId: `c${n}`, mode, names, settings: { LOG_LEVEL: 'DEBUG' } }
      try {
        if (w === 'cut') { await cutRepliesOf([{ name, nth }], opts); out = 'ok' }
        else out = `ok ${await killedAt({ name, nth }, w as 'before', opts)}`
      } catch (e) {
        const m = String((e as Error).message)
        const f = `/tmp/h/chaos-each-${mode}-${w}-${name.replace(/\W/g, '_')}-${nth}.txt`
        writeFileSync(f, m)
        out = `FAIL ${m.split('\n')[0]!.slice(0, 200)} ${f}`
      }
      console.log(`${w} ${name} #${nth}: ${out} ${Math.round(performance.now() - t)} ms`)
    }
  }
  await Promise.all(Array.from({ length: Number(process.env.PAR ?? 4) }, run))
})
