/**
 * The tutorial as a reader does it: each step's files are written beside the site that the page names, its command lines are
 * typed, and give the items and the output that the page shows; its own test passes.
 *
 * A block without a language is what the command lines before it print, line by line; `...` stands for more. With
 * `<!-- items -->` before it, it is what is then in items.jsonl.
 */

import { copyFileSync, globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type RedisServer, runProcess, startRedis, type TempDir, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { codeBlocks, commandLines } from './docs-code.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What they print is of a moment and a machine. Tests of their own look at it. */
const NOT_TYPED = ['status', 'doctor']
/** What needs a Redis; others run as they do without one. */
const ON_REDIS = ['worker', 'dupefilter']

/** Lines of items.jsonl on a page; with `: …` only those that hold this. */
const SHOWN_ITEMS = /<!-- items(?:: (?<having>.+?))? -->\n```\n(?<lines>[\s\S]*?)^```$/gm
const BLOCK = /^```(?<language>\w*)\n(?<code>[\s\S]*?)^```$/gm
/** What the page says to type at a prompt that its command line opens. */
const TRIED = /Try `([^`]+)`/

interface Typed {
  readonly args: readonly string[]
  /** Lines that it prints, among others. */
  readonly shown: readonly string[]
}

interface Step {
  readonly page: string
  /** By name. */
  readonly files: ReadonlyMap<string, string>
  readonly beside: string
  readonly typed: readonly Typed[]
  readonly items: readonly { readonly lines: readonly string[]; readonly having: string }[]
}

const steps = globSync('docs/tutorial/*.md', { cwd: ROOT })
  .sort()
  .flatMap((page) => stepOf(page, readFileSync(join(ROOT, page), 'utf8')) ?? [])

function stepOf(page: string, markdown: string): Step | undefined {
  const beside = /<!-- beside its code: (\S+) -->/.exec(markdown)?.[1]
  const files = new Map(
    codeBlocks(page, markdown).flatMap(({ code }) => {
      const name = /^\/\/ (\w[\w.-]*\.ts)\n/.exec(code)?.[1]
      return name === undefined ? [] : [[name, code]]
    }),
  )
  if (beside === undefined) return undefined
  const items = [...markdown.matchAll(SHOWN_ITEMS)].map(({ groups }) => ({
    lines: linesOf(groups!.lines!),
    having: groups!.having ?? '',
  }))
  return { page, files, beside, typed: typedIn(markdown.replaceAll(SHOWN_ITEMS, '')), items }
}

function typedIn(markdown: string): Typed[] {
  const typed: { args: string[]; shown: string[] }[] = []
  let said = 0
  for (const found of markdown.matchAll(BLOCK)) {
    const { language = '', code = '' } = found.groups!
    if (language === 'sh') typed.push(...commandLines('sh', code).map((args) => ({ args, shown: [] })))
    else if (language === '') {
      const last = typed.at(-1)
      if (last === undefined) throw new Error(`no command line stands before what is shown: ${code}`)
      last.shown.push(...linesOf(code).filter((line) => line.trim() !== '...'))
      const tried = TRIED.exec(markdown.slice(said, found.index))?.[1]
      if (tried !== undefined) last.args.push('-c', tried)
    }
    said = found.index + found[0].length
  }
  return typed.filter(({ args }) => !NOT_TYPED.includes(args[0]!))
}

function linesOf(text: string): string[] {
  return text.trimEnd().split('\n')
}

let redis: RedisServer
const commands = new CommandLine()
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(async () => {
  await commands[Symbol.asyncDispose]()
  await redis.stop()
})

async function folderOf({ files, beside }: Step): Promise<TempDir> {
  const folder = await tempDir()
  symlinkSync(join(ROOT, 'node_modules'), folder.join('node_modules'))
  writeFileSync(folder.join('package.json'), '{ "type": "module" }')
  for (const [name, code] of files)
    writeFileSync(folder.join(name), code.replace('setTimeout(1000)', 'setTimeout(1)'))
  copyFileSync(join(ROOT, beside), folder.join(basename(beside)))
  return folder
}

/** Returns all that it printed, with single blanks. */
async function output(folder: TempDir, args: readonly string[]): Promise<string> {
  const env = {
    WEBLOOM_LOG_FORMAT: 'pretty',
    REDIS_URL: ON_REDIS.includes(args[0]!) ? redis.url : undefined,
  }
  const { code, stdout, stderr } = await commands.run(args, { cwd: folder.path, env })
  expect(code, stderr).toBe(0)
  return `${stdout}\n${stderr}`.replaceAll(/[ \t]+/g, ' ')
}

test.each(steps.map((step) => [step.page, step] as const))(
  '%s: what is typed prints what is shown, and writes the items that are shown',
  { timeout: 90_000 },
  async (_, step) => {
    await using folder = await folderOf(step)
    for (const { args, shown } of step.typed) {
      const printed = await output(folder, args)
      for (const line of shown) expect(printed).toContain(line.trim().replaceAll(/[ \t]+/g, ' '))
    }
    if (step.items.length > 0) {
      const items = linesOf(readFileSync(folder.join('items.jsonl'), 'utf8'))
      for (const { lines, having } of step.items)
        expect(items.filter((item) => item.includes(having)).slice(0, lines.length)).toEqual(lines)
    }
    if (step.files.has('spider.test.ts')) {
      const tested = await runProcess(process.execPath, ['--test', 'spider.test.ts'], { cwd: folder.path })
      expect(tested.code, tested.stdout).toBe(0)
    }
  },
)

test('every step has command lines, and every step but the last a spider and something that is shown', () => {
  const page = ({ page }: Step) => basename(page, '.md')
  expect(steps.map(page)).toEqual(['bloom', 'first-spider', 'items', 'links', 'workers'])
  expect(steps.filter(({ typed }) => typed.length === 0).map(page)).toEqual([])
  expect(steps.filter(({ files }) => !files.has('spider.ts')).map(page)).toEqual([])
  const isShowing = ({ typed, items }: Step) =>
    items.length > 0 || typed.some(({ shown }) => shown.length > 0)
  expect(steps.filter((step) => !isShowing(step)).map(page)).toEqual(['workers'])
})
