/**
 * Runs worlds from the command line, to find out what a seed does:
 *
 *     node --conditions=webloom-source tests/world/run.ts --seed set-back-3 --times 20
 *     node --conditions=webloom-source tests/world/run.ts --family kill --from 1 --to 50
 *
 * `--at-once 2` runs so many side by side, `--logs` prints what the workers of a failing world have said, `--trace`, for one
 * at a time, the commands that name the first page that was never fetched, or too often.
 */

import { parseArgs } from 'node:util'
import { createFingerprinter, Request } from '@webloom/core'
import { planOf } from './world-plan.ts'
import { runWorlds } from './world-round.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    times: { type: 'string', default: '1' },
    family: { type: 'string' },
    from: { type: 'string', default: '1' },
    to: { type: 'string', default: '10' },
    'at-once': { type: 'string', default: '2' },
    logs: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    plan: { type: 'boolean', default: false },
  },
})
const [from, to] = [Number(values.from), Number(values.to)]
const seeds =
  values.seed !== undefined
    ? Array.from({ length: Number(values.times) }, () => values.seed!)
    : Array.from({ length: to - from + 1 }, (_, n) => `${values.family ?? 'mixed'}-${from + n}`)
if (values.plan) console.log(JSON.stringify(planOf(seeds[0]!), null, 2))
let failed = 0
let traced: { readonly line: string; readonly text: string }[] = []
const trace = (worker: string, name: string, command: readonly string[]) => {
  const line = `${Math.round(performance.now())} ${worker} ${name}`
  traced.push({ line, text: command.join(' ') })
}
/** The commands that name a page, and those that name a page which has asked the filter about it. */
const showTrace = (url: string) => {
  const [id, inFilter] = (['scrapy', 'scrapy-redis'] as const).map((algorithm) =>
    createFingerprinter({ algorithm }).fingerprint(new Request(url)),
  )
  const lines = traced.filter(({ text }) => text.includes(id!) || text.includes(inFilter!))
  const askers = new Set(lines.flatMap(({ text }) => /"owner":"([^"]+)"/.exec(text)?.[1] ?? []))
  console.log(`  ${url} is ${id}, in the filter ${inFilter}; asked about by ${[...askers].join(', ')}`)
  const names = [id!, inFilter!, ...askers]
  for (const { line, text } of traced) {
    const named = names.filter((name) => text.includes(name))
    if (named.length === 0) continue
    const owner = /"owner":"([^"]*)","attempt":"([^"]*)"/.exec(text)
    const settles = /"settle":(\[.*?\]\])/.exec(text)?.[1] ?? ''
    const said = owner ? `by ${owner[1]} ${owner[2]}, settles ${settles.slice(0, 200)}` : text.slice(0, 200)
    console.log(
      `    ${line} names ${named.map((name) => name.slice(0, 8)).join(' ')}: ${said.replaceAll('\n', ' ')}`,
    )
  }
}
await runWorlds(
  seeds,
  Number(values['at-once']),
  (result) => {
    const { seed, wrong, blamed, pages, repeats, allowed, ms, struck, missed, hits, logs } = result
    console.log(
      `${wrong.length > 0 ? 'WRONG' : 'well '} ${seed}: ${pages} pages, ${repeats} repeats of ${allowed}, ${ms} ms`,
    )
    if (wrong.length === 0) traced = []
    if (wrong.length === 0 && !values.plan) return
    if (wrong.length > 0) failed++
    for (const line of [
      ...struck.map((one) => `  struck: ${one}`),
      ...missed.map((one) => `  missed: ${one}`),
    ])
      console.log(line)
    for (const one of [...wrong, ...hits]) console.log(`  ${one}`)
    if (values.trace && blamed[0] !== undefined) showTrace(blamed[0])
    if (values.logs) console.log(logs)
    traced = []
  },
  values.trace ? trace : undefined,
)
console.log(`${failed} of ${seeds.length} went wrong`)
process.exit(failed > 0 ? 1 : 0)
