/**
 * Real input: crawls the HTML pages below a start URL, and has wget visit the same, then compares the two sets.
 *
 *     node --conditions=webloom-source scripts/compare-with-wget.ts http://127.0.0.1:8000/docs/index.html
 *
 * Prints both counts and each difference, and ends with 1 when there is one. wget must be installed; serve only what is
 * yours to crawl.
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { crawl, type Response, Spider } from 'webloom'

const start = process.argv[2]
if (!start) {
  console.error('usage: node --conditions=webloom-source scripts/compare-with-wget.ts <start url>')
  process.exit(2)
}
const below = start.slice(0, start.lastIndexOf('/') + 1)

const pages = new Set<string>()
class Pages extends Spider {
  override name = 'pages'
  override startUrls = [start!]
  override *parse(response: Response): Generator<unknown> {
    if (!/html/.test(response.headers.get('content-type') ?? '')) return
    pages.add(response.url.replace(/#.*/, ''))
    for (const request of response.followAll()) if (request.url.startsWith(below)) yield request
  }
}

const { stats } = await crawl(Pages, { settings: { LOG_LEVEL: 'ERROR' } })
const visited = visitedByWget(start)
console.log(
  `webloom: ${pages.size} HTML pages in ${stats.elapsed_time_seconds} s (${stats['dupefilter/filtered']} links met before)`,
)
console.log(`wget:    ${visited.size} HTML pages`)
const differences = [
  ...[...pages].filter((url) => !visited.has(url)).map((url) => `only webloom: ${url}`),
  ...[...visited].filter((url) => !pages.has(url)).map((url) => `only wget:    ${url}`),
]
console.log(differences.length === 0 ? 'no differences' : differences.join('\n'))
process.exit(differences.length === 0 ? 0 : 1)

function visitedByWget(url: string): Set<string> {
  const folder = mkdtempSync(join(tmpdir(), 'wget-'))
  try {
    execFileSync('wget', ['-q', '-r', '-l', 'inf', '-e', 'robots=off', '--no-parent', url], { cwd: folder })
  } catch (error) {
    // 8: the server answered some links with an error, as it did to us.
    if ((error as { status?: number }).status !== 8) throw error
  }
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const paths = files.map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  rmSync(folder, { recursive: true })
  return new Set(paths.filter((path) => /\.html?$/.test(path)).map((path) => `http://${path}`))
}
