/** The process of `CommandHost`: runs a line of the command line for each line that it reads. */

import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { scaledTimes } from '@webloom/core'
import type { Line } from './command-hosts.ts'

// What is built is run, as by the real command.
const PACKAGE = process.argv[2]!
const { main } = (await import(
  join(PACKAGE, 'dist/cli.js')
)) as typeof import('../../packages/webloom/src/cli.ts')

const ENV = { ...process.env }

// Each line listens to them until the process ends.
process.stdout.setMaxListeners(0)
process.stderr.setMaxListeners(0)

const exit = process.exit
let exitCode = 0
process.exit = ((code: number) => {
  exitCode = code
}) as typeof process.exit

for await (const text of createInterface({ input: process.stdin })) {
  const { words, cwd, env, factor, ends } = JSON.parse(text) as Line
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, ENV, env)
  process.argv.splice(1, process.argv.length, join(PACKAGE, 'bin/webloom.js'), ...words)
  await main(process.argv, factor === 1 ? undefined : scaledTimes(factor))
  process.stdout.write(`${ends.stdout}${exitCode}\n`)
  process.stderr.write(`${ends.stderr}${exitCode}\n`)
}
exit()
