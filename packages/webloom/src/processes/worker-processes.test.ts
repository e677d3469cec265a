import { readFileSync, writeFileSync } from 'node:fs'
import { type Logger, silentLogger } from '@webloom/core'
import { type TempDir, tempDir } from '@webloom/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EXIT } from '../exit-codes.ts'
import { runWorkerProcesses } from './worker-processes.ts'

/** Notes its place, and does what the file of its place says, a line for each that was there. */
const PROGRAM = `
import { appendFileSync, readFileSync } from 'node:fs'
process.on('disconnect', () => process.exit())
const [folder, place] = process.argv.slice(2)
appendFileSync(folder + '/begun', place)
const nth = readFileSync(folder + '/begun', 'utf8').split(place).length - 2
const [verb, word] = readFileSync(folder + '/place-' + place, 'utf8').split('\\n')[nth].split(' ')
if (verb === 'says') process.send({ finishReason: word, stats: {} }, () => process.exit(0))
else if (verb === 'exits') process.exit(Number(word))
else setInterval(() => {}, 1000)
`

let folder: TempDir
beforeEach(async () => {
  folder = await tempDir()
  writeFileSync(folder.join('worker.mjs'), PROGRAM)
  writeFileSync(folder.join('begun'), '')
})
afterEach(() => folder.remove())

/** Each place has what its workers do, one after the other. Resolves to the exit code, the places in order, and what was logged. */
async function run(...places: readonly (readonly string[])[]) {
  for (const [n, lines] of places.entries()) writeFileSync(folder.join(`place-${n + 1}`), lines.join('\n'))
  const told: unknown[] = []
  const keep = (text: unknown) => void told.push(text)
  const logger: Logger = { ...silentLogger, info: keep, warn: keep }
  const code = await runWorkerProcesses({
    count: places.length,
    program: folder.join('worker.mjs'),
    argvOf: (place) => [folder.path, String(place)],
    blockedMsMax: 0,
    logger,
  })
  const begun = [...readFileSync(folder.join('begun'), 'utf8')].sort().join('')
  return { code, begun, told }
}

test('in the place of one that was over MEMUSAGE_LIMIT_MB comes another, and in that of one whose crawl is over none', async () => {
  const { code, begun, told } = await run(
    ['says memusage_exceeded', 'says memusage_exceeded', 'says finished'],
    ['says finished'],
  )
  expect({ code, begun }).toEqual({ code: EXIT.finished, begun: '1112' })
  expect(told).toEqual(
    Array(2).fill('worker 1 was over MEMUSAGE_LIMIT_MB and has left; another takes its place'),
  )
})

test('in the place of one that died comes another', async () => {
  const { code, begun, told } = await run(['exits 7', 'says finished'])
  expect({ code, begun }).toEqual({ code: EXIT.finished, begun: '11' })
  expect(told).toEqual([expect.stringMatching(/^worker 1 died \(exit code 7\); another takes its place in /)])
})

test.each(['redisUnreachable', 'usage'] as const)(
  'all end when one of them cannot begin: %s, with its exit code',
  async (reason) => {
    const { code, begun } = await run([`exits ${EXIT[reason]}`], ['stays'])
    expect({ code, begun }).toEqual({ code: EXIT[reason], begun: expect.stringMatching(/^12?$/) })
  },
)
