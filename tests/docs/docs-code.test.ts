/**
 * Every code block of the docs is tried: TypeScript is type-checked against the built packages and its spiders are run on a
 * page, command lines are read by the real command line, JSON is parsed.
 *
 * A block is a file of its own; `// spider.ts` as its first line names it, so that another block of the page can import it.
 * What is only a part of a file says so in a comment before it, which readers do not see:
 *
 *     <!-- code in a callback. Given: const total = 0 -->
 *
 * A spider that needs another page than PAGE to make something of it has that page in such a comment:
 *
 *     <!-- its page: <p class="order">one</p> -->
 *
 * A page whose code imports a file of the repository says `<!-- beside its code: path -->`.
 */

import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runProcess, type TempDir, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as webloom from 'webloom'
import { runCallback } from 'webloom/testing'
import {
  type CodeBlock,
  codeBlocks,
  commandLines,
  inlineCommands,
  refusal,
  shellCommands,
  words,
} from './docs-code.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGES = [
  '*.md',
  'docs/**/*.md',
  'packages/*/README.md',
  'examples/**/README.md',
  'benchmarks/README.md',
]
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
    for (const path of beside(block.page))
      copyFileSync(join(ROOT, path), join(dirname(fileOf(block)), basename(path)))
    writeFileSync(fileOf(block), moduleOf(block))
  }
})
afterAll(() => folder.remove())

/** Files of the repository that a page says stand beside its own: `<!-- beside its code: path -->`. */
function beside(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/<!-- beside its code: (\S+) -->/g)].map(([, path]) => path!)
}

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
    'the spider of %s makes something of a page',
    async (_, block) => {
      const { default: Class } = (await import(pathToFileURL(fileOf(block)).href)) as {
        default: webloom.SpiderClass
      }
      const url = /startUrls = \['([^']+)'/.exec(block.code)?.[1] ?? 'https://site.example/'
      const { items, requests } = await runCallback(Class, { url, body: block.itsPage ?? PAGE })
      expect([...items, ...requests]).not.toEqual([])
    },
  )

  test('JSON is JSON', () => {
    for (const { code } of blocks.filter(({ language }) => language === 'json'))
      expect(() => JSON.parse(code), code).not.toThrow()
  })
})

/** Languages of blocks, each tried by a test; a block without one is a drawing, or rights that `redis-rights.test.ts` grants. */
const LANGUAGES = ['', 'ts', 'js', 'json', 'sh', 'dockerfile', 'lua']
/** Programs that are not ours, and `webloom`, whose lines are read below. */
const PROGRAMS = [
  'webloom',
  'curl',
  'docker',
  'kubectl',
  'systemctl',
  'journalctl',
  'redis-cli',
  'export',
  'mkdir',
  'echo',
  'cat',
  'head',
  'pip',
  '.ci/run',
]
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>
}

describe('what blocks are made of', () => {
  test('is a language that is tried', () => {
    const others = blocks.filter(({ language }) => !LANGUAGES.includes(language))
    expect(others.map(({ page, line, language }) => `${page}:${line}: ${language}`)).toEqual([])
  })

  test('in a shell are scripts, files and folders that there are', () => {
    const wrong = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ page, line, code }) => notThere(code).map((command) => `${page}:${line}: ${command}`))
    expect(wrong).toEqual([])
  })

  test('what there is not is found', () => {
    expect(notThere('npm run build && npm run bild')).toEqual(['npm run bild'])
    expect(notThere('cd docs && cd dogs')).toEqual(['cd dogs'])
    expect(notThere('cd examples/site && node serve.ts')).toEqual([])
    expect(notThere('npx node serve.ts')).toEqual(['npx node serve.ts'])
    expect(notThere('npm create webloom@latest here && cd here && cd there')).toEqual(['cd there'])
    expect(notThere('X=1 webloom list\nwget a')).toEqual(['wget a'])
  })
})

/** What a reader keeps the clone under. */
const CLONE = '/path/to/the/clone'

/** The commands of a shell script that name a script, a file or a folder which is not there. */
function notThere(code: string): string[] {
  let folder = ROOT
  const made = new Set<string>()
  const isThere = (path: string) => existsSync(resolve(folder, path.replace(CLONE, ROOT)))

  function isFine(command: readonly string[]): boolean {
    const [program, ...args] = command.filter((word) => word !== 'npx' && !/^\w+=/.test(word))
    if (program === 'cd') {
      if (made.has(args[0]!)) return true
      if (!isThere(args[0]!)) return false
      folder = resolve(folder, args[0]!.replace(CLONE, ROOT))
      return true
    }
    if (args[0]?.endsWith('create-webloom.js')) made.add(args[1]!)
    if (program === 'npm' && args[0] === 'create') made.add(args[2]!)
    if (program === 'npm' && args[0] === 'run') return Object.hasOwn(scripts, args[1]!)
    if (program === 'npm') return ['ci', 'create', 'install', 'start', 'test', 'pkg'].includes(args[0]!)
    if (program === 'node' && args[0] === '-e') return true
    if (program === 'node' || program === 'python3') return args.some(isThere)
    return program === undefined || PROGRAMS.includes(program)
  }

  return shellCommands(code)
    .filter((command) => !isFine(command))
    .map((command) => command.join(' '))
}

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
