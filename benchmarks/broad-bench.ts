/**
 * Crawls of many hosts: pages a second, and what a page costs the worker, the queue's Redis and the dupefilter's.
 *
 *     npm run build && node benchmarks/broad-bench.ts [--rows one-page,paced] [--scale 0.1] [--rounds 1] [--against DIR] [--out FOLDER]
 *
 * Hosts are addresses of 127.0.0.0/8, all served by one process, with pages of 6 KB and ten links. Each row runs in fresh
 * processes, with a Redis for each role. `--scale` makes hosts (or pages, of few hosts) fewer. `--against` names another
 * checkout, built: each row runs with its code, too, in turn. Medians are shown; `--out` gets them as Markdown and JSON.
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Figures, measureRow } from './broad/measure.ts'
import { ROWS, type Row, scaled } from './broad/rows.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    scale: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '1' },
    against: { type: 'string' },
    out: { type: 'string' },
  },
})

interface Result {
  readonly row: Row
  readonly code: string
  readonly figures: Figures
}

/** In the table of all rows; the others stand below it, for the rows that have them. */
const COLUMNS = [
  'pages/s',
  'CPU ms',
  'queue µs',
  'queue scripts',
  'XADD',
  'filter µs',
  'filter scripts',
  'peak MB',
]

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

function medians(rounds: readonly Figures[]): Figures {
  const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!
  return Object.fromEntries(
    Object.keys(rounds[0]!).map((name) => [name, median(rounds.map((figures) => figures[name]!))]),
  )
}

function shown(figure: number | undefined): string {
  if (figure === undefined) return ''
  if (Number.isInteger(figure)) return String(figure)
  return figure.toFixed(figure < 1 ? 3 : figure < 10 ? 2 : figure < 100 ? 1 : 0)
}

function markdown(results: readonly Result[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  const table = results.map(({ row, code, figures }) =>
    line([row.title, code, ...COLUMNS.map((name) => shown(figures[name]))]),
  )
  const more = results.map(({ row, code, figures }) => {
    const others = Object.entries(figures).filter(([name]) => !COLUMNS.includes(name))
    const { hosts, pagesPerHost, workers } = row
    const crawl = `${row.title} (${row.key}; ${hosts} hosts × ${pagesPerHost} pages, workers: ${workers}), ${code}`
    return `- ${crawl}: ${others.map(([name, figure]) => `${name} ${shown(figure)}`).join('; ')}\n`
  })
  const head = [line(['row', 'code', ...COLUMNS]), line(['---', '---', ...COLUMNS.map(() => '---:')])]
  return `${[...head, ...table].join('')}\nAll but pages/s and peak MB are for one page.\n\n${more.join('')}`
}

const results: Result[] = []
for (const row of wantedRows()) {
  const rounds = new Map<string, Figures[]>([...checkouts().keys()].map((code) => [code, []]))
  for (let round = 1; round <= Number(values.rounds); round++) {
    for (const [code, checkout] of checkouts()) {
      const figures = await measureRow(row, checkout)
      rounds.get(code)!.push(figures)
      console.error(`${row.key}, ${code}, round ${round}: ${JSON.stringify(figures)}`)
    }
  }
  for (const [code, all] of rounds) results.push({ row, code, figures: medians(all) })
}

const machine = `${new Date().toISOString().slice(0, 10)} · ${cpus().length} cores, ${cpus()[0]!.model} · Node ${process.versions.node}`
const command = `node benchmarks/broad-bench.ts ${process.argv.slice(2).join(' ')}`
const text = `${machine}\n\n\`npm run build && ${command}\`\n\n${markdown(results)}`
console.log(text)
if (values.out !== undefined) {
  await mkdir(values.out, { recursive: true })
  await writeFile(join(values.out, 'broad.md'), text)
  await writeFile(
    join(values.out, 'broad.json'),
    `${JSON.stringify({ machine, command, results }, null, 2)}\n`,
  )
}
