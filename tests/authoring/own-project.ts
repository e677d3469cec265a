/** A folder with the examples of docs/own-components.md, and a site that their crawls ask. */

import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TempDir, tempDir } from '@webloom/testkit'
import { type CodeBlock, codeBlocks } from '../docs/docs-code.ts'
import type { CommandLine } from '../projects/command-line.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = 'docs/own-components.md'
/** How long the site takes for /slow: longer than what makes a host one of the slow ones. */
const SLOW_MS = 700

export interface Crawled {
  readonly code: number | null
  readonly items: readonly unknown[]
  readonly stats: Readonly<Record<string, unknown>>
  readonly log: string
  /** Of the spider, in the folder. */
  readonly file: string
}

export interface OwnProject extends AsyncDisposable {
  readonly folder: TempDir
  /** Of the site; it answers every path with a title, `/slow` late. */
  readonly origin: string
  /** Paths that the site was asked for. */
  readonly asked: readonly string[]
  /** @param start what `start()` does */
  crawled(
    start: string,
    settings: Readonly<Record<string, unknown>>,
    outputs?: readonly string[],
  ): Promise<Crawled>
}

/** The code blocks of the page, each with the name of its file: the first line of the code. */
export function ownExamples(): (CodeBlock & { readonly name: string | undefined })[] {
  const blocks = codeBlocks(PAGE, readFileSync(join(ROOT, PAGE), 'utf8'))
  return blocks.map((block) => ({
    ...block,
    name: /^(?:\/\/|--) (\w[\w.-]*\.(?:ts|lua))\n/.exec(block.code)?.[1],
  }))
}

/** @param commands that run its crawls */
export async function ownProject(commands: CommandLine): Promise<OwnProject> {
  const folder = await tempDir()
  symlinkSync(join(ROOT, 'node_modules'), folder.join('node_modules'))
  for (const { name, code } of ownExamples()) if (name !== undefined) writeFileSync(folder.join(name), code)
  const asked: string[] = []
  const site = createServer((req, res) => {
    asked.push(req.url!)
    const answer = () => res.writeHead(200, { 'content-type': 'text/html' }).end('<title>of the site</title>')
    if (req.url === '/slow') setTimeout(answer, SLOW_MS)
    else answer()
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  return {
    folder,
    origin: `http://127.0.0.1:${(site.address() as AddressInfo).port}`,
    asked,
    crawled: (start, settings, outputs) => crawled({ folder, commands }, start, settings, outputs),
    async [Symbol.asyncDispose]() {
      site.closeAllConnections()
      await new Promise((resolve) => site.close(resolve))
      await folder.remove()
    },
  }
}

let spiders = 0

async function crawled(
  { folder, commands }: { readonly folder: TempDir; readonly commands: CommandLine },
  start: string,
  settings: Readonly<Record<string, unknown>>,
  outputs: readonly string[] = ['-O', 'items.jsonl'],
): Promise<Crawled> {
  // Of a name of its own: one that was loaded is not read again.
  const spider = `spider-${++spiders}.mjs`
  writeFileSync(
    folder.join(spider),
    `import { Request, Spider } from 'webloom'
export class Reader extends Spider {
  name = 'reader'
  async *start() { ${start} }
  *parse(response) { yield { url: response.url, title: response.css('title::text').get() } }
}`,
  )
  const given = Object.entries({ ROBOTSTXT_OBEY: false, ...settings }).flatMap(([name, value]) => [
    '-s',
    `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  ])
  const words = ['runspider', spider, ...outputs, '--stats-file', 'stats.json', ...given]
  const { code, stderr } = await commands.run(words, { cwd: folder.path })
  const read = (name: string) => {
    try {
      return readFileSync(folder.join(name), 'utf8')
    } catch {
      return ''
    }
  }
  const items = read('items.jsonl').split('\n').filter(Boolean)
  return {
    code,
    items: items.map((line) => JSON.parse(line)),
    stats: JSON.parse(read('stats.json') || '{}'),
    log: stderr,
    file: spider,
  }
}
