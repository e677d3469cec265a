// What `npm start` runs: serves the small site beside this file on a free port of this machine, crawls it with the
// `webloom` command as anybody would type it, and shows what came out.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startSite } from './site/site.ts'

const here = import.meta.dirname
const output = path.resolve('quotes.jsonl')
const webloom = fileURLToPath(new URL('../../packages/webloom/bin/webloom.js', import.meta.url))

const site = await startSite()
console.log(`A site of a few dozen pages is served at ${site.url}`)
process.exitCode = await crawl(site.url).finally(() => site.close())
if (process.exitCode === 0) process.exitCode = showWhatCame()

/** The command's exit code. */
async function crawl(url: string): Promise<number> {
  const child = spawn(process.execPath, [webloom, 'crawl', 'quotes', '-a', `site=${url}`, '-O', output], {
    cwd: here,
    stdio: 'inherit',
  })
  // Ctrl-C reaches the child from the terminal; a second one from here would end it at once. The site stays until it is done.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  console.log(`Crawling it:  webloom crawl quotes -a site=${url} -O ${fromCwd(output)}\n`)
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return code ?? 128 + constants.signals[signal!]
}

/** 1 when the crawl ended well but brought no quote: then the site and the spider do not fit. */
function showWhatCame(): number {
  const lines = readFileSync(output, 'utf8').trimEnd().split('\n')
  const quote = lines.find((line) => line.includes('"kind":"quote"'))
  const author = lines.find((line) => line.includes('"kind":"author"'))
  if (!quote || !author) {
    console.error(`\n${fromCwd(output)} lacks quotes or authors; the log above tells what went wrong.`)
    return 1
  }
  const project = fromCwd(here)
  console.log(`
${fromCwd(output)} has ${lines.length} lines, an item each. Two of them:

  ${quote}
  ${author}

What to try next, from this folder:

  npx node ${project}/site/serve.ts
      keeps the site running, at http://127.0.0.1:8000/: look at it, and then in a second terminal
  npx webloom runspider ${project}/spiders/quotes.ts -O quotes.jsonl
      runs the spider's file alone, without the project's settings: as fast as it goes
  cd ${project} && npx webloom crawl quotes -O quotes.json -s DOWNLOAD_DELAY=0.3
      runs it in its project, into JSON, more politely`)
  return 0
}

function fromCwd(file: string): string {
  return path.relative('', file) || '.'
}
