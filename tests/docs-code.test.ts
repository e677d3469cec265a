/**
 * Every code block of the docs is tried: TypeScript is type-checked against the built packages and its spiders are run on a
 * page, command lines are read by the real command line, JSON is parsed.
 *
 * A block is a file of its own; `// spider.ts` as its first line names it, so that another block of the page can import it.
 * What is only a part of a file says so in a comment before it, which readers do not see:
 *
 *     <!-- code in a callback. Given: const total = 0 -->
 */

import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runProcess, type TempDir, tempDir } from '@webloom/testkit'
import { CommanderError } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as webloom from 'webloom'
import { runCallback } from 'webloom/testing'
import { commandLine } from '../packages/webloom/src/cli.ts'
import { type CodeBlock, codeBlocks, commandLines, inlineCommands, words } from './docs-code.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGES = ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'examples/*/README.md', 'benchmarks/README.md']
const pages = globSync(PAGES, { cwd: ROOT }).sort()
const blocks = pages.flatMap((path) => codeBlocks(path, readFileSync(join(ROOT, path), 'utf8')))
const typescript = blocks.filter(({ language }) => language === 'ts' || language === 'js')

const PAGE = `<title>Books</title><h1>Loom</h1><p class="price">£ 7.50</p>
<div class="quote"><span class="text">one</span><small class="author">A. Nonym</small></div>
<article class="product_pod"><h3><a title="Loom" href="/1">Loom</a></h3><p class="price_color">£ 7.50</p></article>`

let folder: TempDir
beforeAll(async () => {
  folder = await tempDir()
  symlinkSync(join(ROOT, 'node_modules'), folder.join('node_modules'))
  writeFileSync(folder.join('package.json'), '{ "type": "module" }')
  for (const block of typescript) {
    mkdirSync(dirname(fileOf(block)), { recursive: true })
    writeFileSync(fileOf(block), moduleOf(block))
  }
})
afterAll(() => folder.remove())

function fileOf({ page, line, code }: CodeBlock): string {
  const name = /^\/\/ (\w[\w.-]*\.ts)\n/.exec(code)?.[1] ?? `line-${line}.ts`
  return folder.join(page.replaceAll('/', '-'), name)
}

/** A part of a file with the rest of it: what it stands in, what was given before, and what it uses of webloom. */
function moduleOf({ code, part, given = '' }: CodeBlock): string {
  if (part === undefined) return code
  const used = ['Response', 'Spider', 'SettingsInput', ...Object.keys(webloom)].filter(
    (name) =>
      ['Response', 'Spider', 'SettingsInput'].includes(name) ||
      new RegExp(`\\b${name}\\b`).test(given + code),
  )
  const around = {
    'a callback': `export class Part extends Spider {\n  async *parse(response: Response): AsyncGenerator<unknown> {\n${code}\n  }\n}`,
    'a spider': `export class Part extends Spider {\n${code}\n}`,
    settings: `export const settings: SettingsInput = {\n${code}\n}`,
  }[part]
  const imports = [...new Set(used)].map((name) => (name === 'SettingsInput' ? `type ${name}` : name))
  return `import { ${imports.join(', ')} } from 'webloom'\n${given}\n${around}\nexport const uses = [Response, Spider]\n`
}

describe('code blocks of the docs', () => {
  test('TypeScript has no errors', async () => {
    writeFileSync(
      folder.join('tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          target: 'es2024',
          lib: ['es2024', 'esnext.iterator', 'esnext.disposable'],
          module: 'nodenext',
          moduleDetection: 'force',
          types: ['node'],
          strict: true,
          noEmit: true,
          skipLibCheck: true,
          erasableSyntaxOnly: true,
          verbatimModuleSyntax: true,
          allowImportingTsExtensions: true,
        },
        include: ['*/*.ts'],
      }),
    )
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { code, stdout } = await runProcess(process.execPath, [tsc, '-p', folder.path, '--pretty', 'false'])
    expect(stdout).toBe('')
    expect(code).toBe(0)
    expect(typescript.length).toBeGreaterThan(8)
  })

  const spiders = typescript.filter(({ code }) => /^export default class \w+ extends/m.test(code))
  test.each(spiders.map((block) => [`${block.page}:${block.line}`, block] as const))(
    'the spider of %s gives items for a page',
    async (_, block) => {
      const { default: Class } = (await import(pathToFileURL(fileOf(block)).href)) as {
        default: webloom.SpiderClass
      }
      const { items } = await runCallback(Class, { url: 'https://site.example/', body: PAGE })
      expect(items.length).toBeGreaterThan(0)
    },
  )

  test('JSON is JSON', () => {
    for (const { code } of blocks.filter(({ language }) => language === 'json'))
      expect(() => JSON.parse(code), code).not.toThrow()
  })
})

describe('command lines of the docs', () => {
  const written = blocks.flatMap(({ page, line, language, code }) =>
    commandLines(language, code).map((args) => ({ at: `${page}:${line}`, args })),
  )

  test.each(written.map(({ at, args }) => [`${at}: webloom ${args.join(' ')}`, args] as const))(
    '%s',
    async (_, args) => {
      expect(await refusal(args)).toBeUndefined()
    },
  )

  test('within sentences they have commands and options that there are', async () => {
    const wrong: string[] = []
    for (const path of pages) {
      for (const { line, text } of inlineCommands(readFileSync(join(ROOT, path), 'utf8'))) {
        const found = await refusal(words(text).slice(1))
        // A sentence may name a command without what it is run on.
        if (found && !/missing required argument|required option|outputHelp/.test(found))
          wrong.push(`${path}:${line}: ${text}: ${found}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test('what there is not is found', async () => {
    expect(await refusal(['craw', 'quotes'])).toMatch(/unknown command 'craw'/)
    expect(await refusal(['crawl', 'quotes', '--fast'])).toMatch(/unknown option '--fast'/)
    expect(await refusal(['list', 'quotes'])).toMatch(/too many arguments/)
    expect(commandLines('sh', 'npx webloom crawl a -s \'X=[1, "b"]\' && B=1 webloom list # all\n')).toEqual([
      ['crawl', 'a', '-s', 'X=[1, "b"]'],
      ['list'],
    ])
  })
})

/** Why the command line would not take this; undefined when it would. Nothing is run. */
async function refusal(args: readonly string[]): Promise<string | undefined> {
  const program = commandLine(() => {})
  const all = (command: typeof program): (typeof program)[] => [command, ...command.commands.flatMap(all)]
  for (const command of all(program)) {
    command.configureOutput({ writeErr: () => {}, writeOut: () => {} })
    if (command.commands.length === 0) command.action(() => {})
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return undefined
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return undefined
    return (error as Error).message
  }
}
