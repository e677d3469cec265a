/**
 * What rendered pages cost, beside scrapy-playwright and Crawlee's PlaywrightCrawler with the same Chromium, in turn, in one run:
 *
 *     npm run build && node benchmarks/browser-bench.ts [--rounds 3] [--pages 150] [--open 4] [--only name,…]
 *
 * Each system renders the same pages (`browser/site.ts`), so many at a time, waits for what the page's script draws, and counts it in
 * the page that it gets: a wrong count ends the run. Pages and seconds come from the site's log, from the first document to the last
 * answer to a script, so that starting does not count. Memory is that of the system with its browser, by PSS, at its highest. Medians
 * are shown. The last rows are of one crawl with pages over HTTP, with and without rendered pages beside them.
 */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { ensureChromium, tempDir } from '@webloom/testkit'
import { treeMemoryMb } from '../packages/browser/src/chromium/process-memory.ts'
import type { BrowserTask } from './browser/task.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    pages: { type: 'string', default: '150' },
    open: { type: 'string', default: '4' },
    only: { type: 'string' },
  },
})
const [rounds, pages, open] = [values.rounds, values.pages, values.open].map(Number) as [
  number,
  number,
  number,
]
const FOLDER = join(import.meta.dirname, 'browser')
const INSTALLED = join(FOLDER, '.installed')
const PYTHON = join(INSTALLED, 'venv/bin/python')
const ITEMS_PER_PAGE = 20
const MEMORY_LOOK_MS = 200
const PLAIN_PAGES = 1500

interface System {
  readonly name: string
  readonly file: string
  readonly blocks?: boolean
  readonly apart?: boolean
  readonly drawn?: number
  readonly plain?: number
}

const SYSTEMS: readonly System[] = [
  { name: 'webloom', file: 'webloom.ts', apart: true },
  { name: 'webloom, images and fonts blocked', file: 'webloom.ts', apart: true, blocks: true },
  { name: 'scrapy-playwright', file: 'scrapy_playwright_pages.py' },
  { name: 'scrapy-playwright, a context a page', file: 'scrapy_playwright_pages.py', apart: true },
  { name: 'Crawlee', file: 'crawlee.ts' },
  { name: 'Crawlee, a context a page', file: 'crawlee.ts', apart: true },
  { name: 'webloom, HTTP pages alone', file: 'webloom.ts', drawn: 0, plain: PLAIN_PAGES },
  { name: 'webloom, HTTP pages beside rendered ones', file: 'webloom.ts', plain: PLAIN_PAGES },
]

interface Measured {
  readonly pagesPerSecond: number
  readonly peakMb: number
  readonly requests: number
}

const run = promisify(execFile)

async function install(): Promise<string[]> {
  if (!existsSync(PYTHON)) {
    console.error(`installing scrapy-playwright and @crawlee/playwright in ${INSTALLED}`)
    await run('npm', [
      'install',
      '--no-audit',
      '--no-fund',
      '--prefix',
      INSTALLED,
      '@crawlee/playwright',
      'playwright',
    ])
    await run('python3', ['-m', 'venv', join(INSTALLED, 'venv')])
    await run(join(INSTALLED, 'venv/bin/pip'), ['install', '--quiet', 'scrapy', 'scrapy-playwright'])
  }
  const { stdout } = await run(join(INSTALLED, 'venv/bin/pip'), ['freeze'])
  const { stdout: crawlee } = await run('npm', [
    'ls',
    '--prefix',
    INSTALLED,
    '--depth',
    '0',
    '--parseable',
    '--long',
  ])
  const versions = [...crawlee.matchAll(/:(@crawlee\/playwright@\S+?|playwright@\S+?)(?::|$)/gm)].map(
    ([, one]) => one!,
  )
  return [...stdout.split('\n').filter((line) => /^scrapy/i.test(line)), ...versions]
}

async function measure(system: System, origin: string, executable: string): Promise<Measured> {
  await using folder = await tempDir()
  const { drawn = pages, plain = 0, blocks = false, apart = false } = system
  const task: BrowserTask = { origin, drawn, plain, open, executable, blocks, apart }
  await writeFile(folder.join('task.json'), JSON.stringify(task))
  const file = join(FOLDER, system.file)
  const isPython = file.endsWith('.py')
  const args = [file, folder.join('task.json')]
  await (await fetch(`${origin}/log`)).text()
  const child = spawn(isPython ? PYTHON : process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let peakMb = 0
  const watch = setInterval(async () => {
    peakMb = Math.max(peakMb, (await treeMemoryMb(child.pid!)) ?? 0)
  }, MEMORY_LOOK_MS)
  let said = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  const [code] = await once(child, 'close')
  clearInterval(watch)
  const { items } = JSON.parse(said.trim().split('\n').at(-1) ?? '{}') as { items?: number }
  if (code !== 0 || items !== (drawn + plain) * ITEMS_PER_PAGE)
    throw new Error(
      `${system.name} ended with ${code} and ${items} items of ${(drawn + plain) * ITEMS_PER_PAGE}`,
    )
  const log = (await (await fetch(`${origin}/log`)).json()) as [number, string][]
  const counted = plain > 0 ? '/plain/' : '/drawn/'
  const times = log.filter(
    ([, path]) => path.startsWith(counted) || (plain === 0 && path.startsWith('/api/')),
  )
  const seconds = (Math.max(...times.map(([at]) => at)) - Math.min(...times.map(([at]) => at))) / 1000
  return { pagesPerSecond: (plain || drawn) / seconds, peakMb, requests: log.length / (plain + drawn) }
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}

const versions = await install()
const executable = await ensureChromium()
const server = spawn(process.execPath, [join(FOLDER, 'site.ts')], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [port] = await once(server.stdout, 'data')
const origin = `http://127.0.0.1:${Number(port)}`
const wanted = SYSTEMS.filter(
  ({ name }) => !values.only || values.only.split(',').some((part) => name.includes(part)),
)
const measured = new Map<System, Measured[]>(wanted.map((system) => [system, []]))
try {
  for (let round = 1; round <= rounds; round++)
    for (const system of wanted) {
      const one = await measure(system, origin, executable)
      measured.get(system)!.push(one)
      console.error(`${system.name}, round ${round}: ${JSON.stringify(one)}`)
    }
} finally {
  server.kill()
}
const { stdout: chromium } = await run(executable, ['--version', '--no-sandbox'])
console.log(
  `${new Date().toISOString().slice(0, 10)} · ${cpus().length} cores, ${cpus()[0]?.model} · Node ${process.versions.node} · ${chromium.trim()} · ${versions.join(' · ')}\n`,
)
console.log(
  `\`npm run build && node benchmarks/browser-bench.ts --rounds ${rounds} --pages ${pages} --open ${open}\`: ${pages} pages, ${open} open at a time, ${rounds} rounds, medians.\n`,
)
console.log('| system | pages/s | spread | peak MB | requests a page |\n| --- | ---: | ---: | ---: | ---: |')
for (const [{ name }, all] of measured) {
  const rates = all.map(({ pagesPerSecond }) => pagesPerSecond)
  const shown = (number: number) => (number < 20 ? number.toFixed(1) : number.toFixed(0))
  console.log(
    `| ${name} | ${shown(median(rates))} | ${shown(Math.min(...rates))}–${shown(Math.max(...rates))} | ${median(all.map(({ peakMb }) => peakMb)).toFixed(0)} | ${median(all.map(({ requests }) => requests)).toFixed(1)} |`,
  )
}
