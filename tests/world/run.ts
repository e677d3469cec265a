/**
 * Runs worlds from the command line, to find out what a seed does:
 *
 *     node --conditions=webloom-source tests/world/run.ts --seed set-back-3 --times 20
 *     node --conditions=webloom-source tests/world/run.ts --family kill --from 1 --to 50
 *
 * `--at-once 2` runs so many side by side, `--logs` prints what the workers of a failing world have said.
 */

import { parseArgs } from 'node:util'
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
await runWorlds(seeds, Number(values['at-once']), (result) => {
  const { seed, wrong, pages, repeats, allowed, ms, struck, missed, logs } = result
  console.log(
    `${wrong.length > 0 ? 'WRONG' : 'well '} ${seed}: ${pages} pages, ${repeats} repeats of ${allowed}, ${ms} ms`,
  )
  if (wrong.length === 0 && !values.plan) return
  if (wrong.length > 0) failed++
  for (const line of [...struck.map((one) => `  struck: ${one}`), ...missed.map((one) => `  missed: ${one}`)])
    console.log(line)
  for (const one of wrong) console.log(`  ${one}`)
  if (values.logs) console.log(logs)
})
console.log(`${failed} of ${seeds.length} went wrong`)
process.exit(failed > 0 ? 1 : 0)
