/**
 * Crawls of many hosts: pages a second, and what a page costs the worker, the queue's Redis and the dupefilter's.
 *
 *     npm run build && node benchmarks/broad-bench.ts [--rows one-page,paced] [--scale 0.1] [--rounds 1] [--against DIR [--together]] [--out FOLDER]
 *
 * Hosts are addresses of 127.0.0.0/8, all served by one process, with pages of 6 KB and ten links. Each row runs in fresh
 * processes, with a Redis for each role. `--scale` makes hosts (or pages, of few hosts) fewer. `--against` names another
 * checkout, built: each row runs with its code, too, in turn; settings it has not are left out, and a row that cannot do
 * without them is n/a. So is a row that fails: the others go on, and the command ends with 1. Medians are shown; `--out`
 * gets them as Markdown and JSON, after each row. With `--together` both codes run at the same time, so that whatever else the machine does slows
 * both down alike: only what one takes as a multiple of the other says something then, and is told of each round.
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Figures } from './broad/figures.ts'
import { RowNotKnown } from './broad/known-settings.ts'
import { measureRow } from './broad/measure.ts'
import { ROWS, type Row, scaled } from './broad/rows.ts'
import { type Result, resultsTable } from './broad/table.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    scale: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '1' },
    against: { type: 'string' },
    together: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
})

if (values.together && values.against === undefined)
  throw new Error('--together needs a checkout beside which this one runs: --against DIR')

function wantedRows(): Row[] {
  const keys = values.rows?.split(',') ?? ROWS.map(({ key }) => key)
  return keys.map((key) => {
    const row = ROWS.find((one) => one.key === key)
    if (!row) throw new Error(`--rows has no ${key}; there are ${ROWS.map((one) => one.key).join(', ')}`)
    return scaled(row, Number(values.scale))
  })
}

function checkouts(): Map<string, string> {
  const all = new Map<string, string>()
  if (values.against !== undefined) all.set('against', resolve(values.against))
  return all.set('this', join(import.meta.dirname, '..'))
}

/** All rounds of a row, with each checkout's code in turn. The one that was last goes first in the next round: a machine is not the same all the time. */
async function resultsOf(row: Row): Promise<Result[]> {
  const rounds = new Map<string, Figures[]>([...checkouts().keys()].map((code) => [code, []]))
  for (let round = 1; round <= Number(values.rounds); round++) {
    const measure = async ([code, checkout]: [string, string]) => {
      const figures = await figuresOrNone(row, checkout)
      console.error(`${row.key}, ${code}, round ${round}: ${JSON.stringify(figures) ?? 'n/a'}`)
      if (figures) rounds.get(code)!.push(figures)
      return figures
    }
    if (values.together) {
      const [against, own] = await Promise.all([...checkouts()].map(measure))
      console.error(`${row.key}, round ${round}, this ÷ against: ${multiples(own, against)}`)
    } else {
      const inTurn = [...checkouts()]
      for (const one of round % 2 === 0 ? inTurn.toReversed() : inTurn) await measure(one)
    }
  }
  return [...rounds].map(([code, all]) => ({ row, code, figures: all.length > 0 ? medians(all) : null }))
}

async function figuresOrNone(row: Row, checkout: string): Promise<Figures | undefined> {
  try {
    return await measureRow(row, checkout)
  } catch (error) {
    if (error instanceof RowNotKnown) console.error(`${row.key}: ${error.message}`)
    else {
      console.error(row.key, error)
      process.exitCode = 1
    }
    return undefined
  }
}

function multiples(own: Figures | undefined, against: Figures | undefined): string {
  if (!own || !against) return 'n/a'
  const both = Object.keys(own).filter((name) => against[name])
  return both.map((name) => `${name} ${(own[name]! / against[name]!).toFixed(2)}`).join(', ')
}

function medians(rounds: readonly Figures[]): Figures {
  const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!
  return Object.fromEntries(
    Object.keys(rounds[0]!).map((name) => [name, median(rounds.map((figures) => figures[name]!))]),
  )
}

const machine = `${new Date().toISOString().slice(0, 10)} · ${cpus().length} cores, ${cpus()[0]!.model} · Node ${process.versions.node}`
const command = `node benchmarks/broad-bench.ts ${process.argv.slice(2).join(' ')}`

function written(results: readonly Result[]): string {
  return `${machine}\n\n\`npm run build && ${command}\`\n\n${resultsTable(results)}`
}

async function keep(results: readonly Result[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'broad.md'), written(results))
  const json = JSON.stringify({ machine, command, results }, null, 2)
  await writeFile(join(folder, 'broad.json'), `${json}\n`)
}

const results: Result[] = []
for (const row of wantedRows()) {
  results.push(...(await resultsOf(row)))
  // Rows take hours: what was measured stays if a later one is stopped.
  if (values.out !== undefined) await keep(results, values.out)
}
console.log(written(results))
