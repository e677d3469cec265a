import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

// Each test is a project of real files that a Node of its own loads: vitest would load TypeScript in its own way.

const ENTRY = fileURLToPath(new URL('../../testdata/ask-loading.mjs', import.meta.url))

let folder: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'webloom-loading-')))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

interface Answer {
  readonly value?: unknown
  readonly code?: string
  readonly message?: string
  readonly stderr?: string
}

const OPTIONS = ['--conditions=webloom-source']

/** Evaluates an expression in a process whose current folder is the project. */
async function ask(expression: string): Promise<Answer> {
  const answered = once(loader, 'message', { signal: AbortSignal.timeout(20_000) })
  loader.send({ folder, expression })
  const [answer] = await answered
  return JSON.parse(answer as string) as Answer
}

let loader: ChildProcess

beforeAll(() => {
  loader = fork(ENTRY, { execArgv: OPTIONS })
})

afterAll(() => loader.kill())

/** The same in a process that has loaded nothing yet. */
async function askAlone(expression: string): Promise<Answer> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...OPTIONS, ENTRY, expression], {
    cwd: folder,
  })
  return { ...(JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Answer), stderr }
}

const loading = (file: string) => `importProjectFile(process.cwd() + '/${file}', 'WL_SPIDER_LOAD')`
const load = (file: string) => ask(loading(file))
const loadAlone = (file: string) => askAlone(loading(file))

const SPIDER = `import { Spider } from 'webloom'
export default class Quotes extends Spider {
  name: string = 'quotes'
}
`

describe('TypeScript files', () => {
  test.each([
    ['commonjs', '{ "type": "commonjs" }'],
    ['module', '{ "type": "module" }'],
    ['no type', '{}'],
    ['no package.json', undefined],
  ])('are ES modules with package.json of: %s', async (_, packageJson) => {
    write({
      ...(packageJson === undefined ? {} : { 'package.json': packageJson }),
      'spider.ts': `import { basename } from 'node:path'\nexport const name: string = basename('/a/b')\nawait 1\n`,
    })
    expect(await loadAlone('spider.ts')).toEqual({ value: { name: 'b' }, stderr: '' })
  })

  test('without webloom in their node_modules find the copy that runs', async () => {
    write({ 'spider.ts': SPIDER })
    expect(await ask(`loadSpiderFile('spider.ts').then((Class) => Class.name)`)).toMatchObject({
      value: 'Quotes',
    })
  })

  test.each([
    './items.ts',
    './items',
    './items.js',
    './parts',
    './parts/index.js',
    './quotes.item',
    '.',
    './plain',
    './more.mjs',
  ])('import relatively by %s', async (specifier) => {
    write({
      'package.json': '{ "type": "commonjs" }',
      'spider.ts': `import { here } from '${specifier}'\nexport const name = here`,
      'items.ts': 'export const here: boolean = true',
      'more.mts': 'export const here: boolean = true',
      'parts/index.ts': 'export const here: boolean = true',
      'quotes.item.ts': 'export const here: boolean = true',
      'index.ts': 'export const here: boolean = true',
      'plain.mjs': 'export const here = true',
    })
    expect(await load('spider.ts')).toEqual({ value: { name: true } })
  })

  test('import a .js file where there is one, and not the .ts beside it', async () => {
    write({
      'package.json': '{ "type": "module" }',
      'spider.ts': `import { from } from './items.js'\nexport const name = from`,
      'items.js': 'export const from = "js"',
      'items.ts': 'export const from = "ts"',
    })
    expect(await load('spider.ts')).toMatchObject({ value: { name: 'js' } })
  })

  test('are found by a dynamic import and by require as well', async () => {
    write({
      'package.json': '{ "type": "commonjs" }',
      'spider.ts': `const { a } = await import('./items')\nexport { a }\nexport { b } from './old.cjs'`,
      'items.ts': 'export const a: number = 1',
      'old.cjs': `exports.b = require('./items.ts').a + 1`,
    })
    expect(await load('spider.ts')).toMatchObject({ value: { a: 1, b: 2 } })
  })

  test('keep lines and columns: a stack trace points at the source', async () => {
    write({ 'spider.ts': `const a: string = 'x'\nexport const at = new Error(a as string).stack\n` })
    const { value } = await load('spider.ts')
    expect((value as { at: string }).at).toContain('spider.ts:2:19')
  })

  test('a package that is installed loads as Node loads it', async () => {
    write({
      'node_modules/old/package.json': '{ "name": "old", "main": "index.js" }',
      'node_modules/old/index.js': `exports.value = require('./other').value`,
      'node_modules/old/other.js': 'exports.value = 3',
      'spider.ts': `import { value } from 'old'\nexport { value }`,
    })
    expect(await load('spider.ts')).toMatchObject({ value: { value: 3 } })
  })

  test('only the warning of stripping is kept back', async () => {
    write({ 'spider.ts': `process.emitWarning('mine', 'ExperimentalWarning')\nexport const a: number = 1` })
    const { stderr } = await loadAlone('spider.ts')
    expect(stderr).toContain('ExperimentalWarning: mine')
    expect(stderr).not.toContain('stripTypeScriptTypes')
  })
})

describe('JavaScript files', () => {
  test('with import in a commonjs package load as Node does', async () => {
    write({
      'package.json': '{}',
      'spider.js': `import { a } from './items'\nexport { a }`,
      'items.ts': 'export const a: number = 1',
    })
    expect(await load('spider.js')).toMatchObject({ value: { a: 1 } })
  })

  test('of CommonJS have their exports as default', async () => {
    write({ 'package.json': '{}', 'spider.js': `module.exports = { a: 1 }` })
    expect(await load('spider.js')).toMatchObject({ value: { default: { a: 1 } } })
  })
})

describe('syntax that cannot be stripped is told once, with place and way out', () => {
  test.each([
    [
      'enum',
      `const a = 1\n\nexport enum Kind {\n  Book,\n}\n`,
      '3',
      'export enum Kind {',
      'an enum',
      'as const',
    ],
    [
      'namespace',
      `\nnamespace A {\n export const b = 1\n}`,
      '2',
      'namespace A {',
      'a namespace',
      'a file of its own',
    ],
    ['module', `module A { export const b = 1 }`, '1', 'module A {', 'a namespace', 'a file of its own'],
    [
      'parameter property',
      `class A {\n  constructor(private readonly name: string) {}\n}`,
      '2:32',
      'constructor(private readonly name: string)',
      'a parameter property',
      'this.name = name',
    ],
    [
      'decorator',
      `const traced = (x: unknown) => x\n@traced\nclass A {}`,
      '2:1',
      '@traced',
      'a decorator',
      'the call itself',
    ],
    [
      'field decorator',
      `class A {\n  @traced name = 1\n}`,
      '2:3',
      '@traced name',
      'a decorator',
      'the call itself',
    ],
    [
      'import =',
      `import fs = require('fs')`,
      '1:1',
      'import fs = require',
      'import x = …',
      "import x from 'x'",
    ],
    ['export =', `const a = 1\nexport = a`, '2:1', 'export = a', 'export = …', 'export default'],
    [
      'angle brackets',
      `const a = <number>(1 as unknown)`,
      '1:11',
      '<number>',
      'a type assertion',
      'value as Type',
    ],
  ])('%s', async (_, source, place, line, is, instead) => {
    write({ 'spider.ts': source })
    const { code, message } = await load('spider.ts')
    expect(code).toBe('WL_SPIDER_LOAD')
    expect(message).toContain(`spider.ts:${place}`)
    expect(message).toContain(line)
    expect(message).toContain(is)
    expect(message).toContain(instead)
  })

  test('in a file that the spider imports, that file is named', async () => {
    write({ 'spider.ts': `import './parts/kinds.ts'`, 'parts/kinds.ts': 'export enum Kind { Book }' })
    const { message } = await load('spider.ts')
    expect(message).toContain('parts/kinds.ts:1')
    expect(message).toContain('an enum')
  })

  test('but declare enum, const assertions, abstract classes and overloads are only types', async () => {
    write({
      'spider.ts': `declare enum A { B }
abstract class C { abstract a: number; declare b: string; c!: number }
class D extends C { override a = 1 }
function f(a: string): string
function f(a: unknown): unknown { return a }
export const a = new D().a satisfies number, b = f('x')!, c = [1] as const
export type { C }
`,
    })
    expect(await load('spider.ts')).toMatchObject({ value: { a: 1, b: 'x', c: [1] } })
  })
})

describe('what cannot be loaded is told with file, line and cause', () => {
  test.each([
    [
      'TypeScript',
      'const a = 1\nconst b: string = ;\n',
      '2:19',
      '  2 | const b: string = ;\n    |                   ^',
    ],
    [
      'JavaScript within TypeScript',
      'let a = 1\nlet a = 2\n',
      '2:5',
      "Identifier 'a' has already been declared",
    ],
    ['an end that is missing', 'export class A {\n  parse() {\n', ':', 'syntax error'],
  ])('a syntax error in %s', async (_, source, place, text) => {
    write({ 'spider.ts': source })
    const { code, message } = await load('spider.ts')
    expect(code).toBe('WL_SPIDER_LOAD')
    expect(message).toMatch(/^spider\.ts:\d/)
    expect(message).toContain(place)
    expect(message).toContain(text)
    expect(message).not.toContain('node:internal')
  })

  test('a syntax error that only V8 sees, in one of several files', async () => {
    write({
      'spider.ts': `import './a.ts'\nimport './b.ts'\nimport './c.ts'`,
      'a.ts': 'export const a: number = 1',
      'b.ts': 'const b: number = 1\nconst b: number = 2',
      'c.ts': 'export const c: number = 1',
    })
    const { message } = await load('spider.ts')
    expect(message).toContain(`b.ts:2:7: syntax error: Identifier 'b' has already been declared`)
    expect(message).toContain('  2 | const b: number = 2\n    |       ^')
  })

  test('an error of JSON.parse is no syntax error of a file, whatever was loaded before', async () => {
    write({
      'bad.ts': 'export enum Kind { A }',
      'spider.ts': `import './a.ts'\nJSON.parse('{')`,
      'a.ts': 'export {}',
    })
    await load('bad.ts')
    expect((await load('spider.ts')).message).toMatch(/^spider\.ts:2:6: SyntaxError: /)
  })

  test('tabs and wide lines: the caret stands below its character', async () => {
    write({ 'spider.ts': 'class A {\n\tconstructor(\tpublic a: number) {}\n}' })
    const { message } = await load('spider.ts')
    expect(message).toContain('spider.ts:2:22')
    expect(message).toContain('  2 |  constructor( public a: number) {}\n    |                      ^')
  })

  test('a syntax error in a .mjs file', async () => {
    write({ 'spider.mjs': 'export const a = 1\nexport const b = = 2\n' })
    const { message } = await load('spider.mjs')
    expect(message).toContain('spider.mjs:2:18: syntax error: Unexpected token')
  })

  test('an error while the file runs: the first frame of the project, also inside a dependency', async () => {
    write({
      'node_modules/picky/package.json': '{ "name": "picky", "type": "module", "exports": "./index.js" }',
      'node_modules/picky/index.js': `export function check() { throw new RangeError('too picky') }`,
      'spider.ts': `import './items.ts'`,
      'items.ts': `import { check } from 'picky'\nconst a: number = 1\ncheck()`,
    })
    const { code, message } = await load('spider.ts')
    expect(code).toBe('WL_SPIDER_LOAD')
    expect(message).toContain('items.ts:3:1: RangeError: too picky')
    expect(message).toContain('  3 | check()')
    expect(message).toContain('while spider.ts was loaded')
  })

  test('a thrown value that is no error', async () => {
    write({ 'spider.ts': `throw 'a fit'` })
    expect((await load('spider.ts')).message).toBe('spider.ts threw a fit while it was loaded')
  })

  test.each([
    ['require', `const fs = require('fs')`, "import x from 'x'"],
    ['__dirname', 'console.error(__dirname)', 'import.meta.dirname'],
    ['module.exports', 'module.exports = {}', 'export default'],
  ])('%s does not exist in a module: what to write instead', async (_, source, hint) => {
    write({
      'package.json': '{ "type": "commonjs" }',
      'spider.ts': `const a: number = 1\n${source}\nexport {}`,
    })
    const { message } = await load('spider.ts')
    expect(message).toContain('spider.ts:2')
    expect(message).toContain(hint)
  })

  test('a package that is not installed: which, from where, and how to install it', async () => {
    write({
      'spider.ts': `import './items.ts'`,
      'items.ts': `// dates\nimport { parse } from 'no-such-dates/parse'`,
    })
    const { code, message } = await load('spider.ts')
    expect(code).toBe('WL_SPIDER_LOAD')
    expect(message).toContain("items.ts:2:23: the package 'no-such-dates' is not installed")
    expect(message).toContain("  2 | import { parse } from 'no-such-dates/parse'")
    expect(message).toContain('npm install no-such-dates')
  })

  test('a file that is not there: which, from where', async () => {
    write({ 'spiders/spider.ts': `\nimport { a } from '../items/quote.ts'` })
    const { message } = await load('spiders/spider.ts')
    expect(message).toContain('spiders/spider.ts:2:19: there is no file ../items/quote.ts')
  })

  test('a type that is imported like a value: import type', async () => {
    write({
      'spider.ts': `import { a, Quote } from './items.ts'\nexport const q: Quote = { a }`,
      'items.ts': 'export interface Quote { a: number }\nexport const a = 1',
    })
    const { message } = await load('spider.ts')
    expect(message).toContain("spider.ts:1:13: './items.ts' exports no Quote")
    expect(message).toContain("import type { Quote } from './items.ts'")
  })

  test('control characters of a source line stay visible', async () => {
    write({ 'spider.ts': `const a = '\u001b[31m' +;` })
    const { message } = await load('spider.ts')
    expect(message).toContain('\\x1b[31m')
    expect(message).not.toContain('\u001b')
  })
})

describe('the spider of a file', () => {
  const nameOf = (file: string) => ask(`loadSpiderFile('${file}').then((Class) => Class.name)`)

  test('is its default export, also beside others', async () => {
    write({ 'spider.ts': `${SPIDER}export class Other extends Spider { name = 'other' }` })
    expect(await nameOf('spider.ts')).toMatchObject({ value: 'Quotes' })
  })

  test('is the only one that it exports', async () => {
    write({ 'spider.ts': `${SPIDER.replace('default ', '')}export const limit = 3\nexport { Spider }` })
    expect(await nameOf('spider.ts')).toMatchObject({ value: 'Quotes' })
  })

  test('several without a default: all are listed', async () => {
    write({
      'spider.ts': `${SPIDER.replace('default ', '')}export class Other extends Spider { name = 'other' }`,
    })
    const { code, message } = await nameOf('spider.ts')
    expect(code).toBe('WL_SPIDER_LOAD')
    expect(message).toContain('spider.ts exports several spiders: Other, Quotes')
  })

  test('none: what it exports instead', async () => {
    write({ 'spider.ts': 'export default class Quotes {}\nexport const limit = 3' })
    const { code, message } = await nameOf('spider.ts')
    expect(code).toBe('WL_SPIDER_LOAD')
    expect(message).toContain('spider.ts exports default, limit, and none of them is a spider')
    expect(message).toContain('extends Spider')
  })

  test('a file that exports nothing', async () => {
    write({ 'spider.ts': 'class Quotes {}' })
    expect((await nameOf('spider.ts')).message).toContain('spider.ts exports nothing')
  })

  test('a file that is not there: one with a similar name, else those that are', async () => {
    write({ 'quotes.ts': SPIDER, 'books.ts': SPIDER, 'quotes.test.ts': '', 'notes.txt': '' })
    expect((await nameOf('quote.ts')).message).toBe('there is no file quote.ts. Did you mean quotes.ts?')
    expect((await nameOf('ferns.ts')).message).toMatch(/there are: books\.ts, quotes\.ts$/)
    expect((await nameOf('nowhere/at/all.ts')).code).toBe('WL_SPIDER_LOAD')
  })

  test('a folder, and a file that is no script', async () => {
    write({ 'spiders/quotes.ts': SPIDER, 'notes.txt': '' })
    expect((await nameOf('spiders')).message).toContain(
      'spiders is a folder; give a file. In spiders there are: quotes.ts',
    )
    expect((await nameOf('notes.txt')).message).toContain('no TypeScript or JavaScript file')
  })

  test('may extend the Spider of another copy of the package', async () => {
    write({
      'node_modules/webloom/package.json': '{ "name": "webloom", "type": "module", "exports": "./index.js" }',
      'node_modules/webloom/index.js': `export class Spider { name = ''; static attach() {}; start() {} parse() {} }`,
      'spider.ts': `${SPIDER}export class Far extends Quotes {}`,
      'not.ts': `class Spider {}\nexport default class Quotes extends Spider {}`,
    })
    expect(await nameOf('spider.ts')).toMatchObject({ value: 'Quotes' })
    expect((await nameOf('not.ts')).code).toBe('WL_SPIDER_LOAD')
  })
})

describe('the spiders of a project', () => {
  const spider = (name: string, before = '') =>
    `import { Spider } from 'webloom'\n${before}export class ${name} extends Spider {\n  name = '${name.toLowerCase()}'\n}\n`
  const CONFIG = `import { defineConfig } from 'webloom'\nexport default defineConfig({ spiders: 'spiders' })\n`
  const listed = `projectConfig('.').then((config) => loadProjectSpiders(config)).then(({ spiders, problems }) => ({ names: spiders.map((one) => one.name + ' ' + one.file.slice(process.cwd().length + 1)), problems }))`
  const found = (name: string, args = '{}') =>
    ask(
      `projectConfig('.').then((config) => findSpider(config, '${name}', ${args})).then((one) => one.Class.name)`,
    )

  test('come from a folder and those below; tests, types, dot files and underscore files are left out', async () => {
    write({
      'webloom.config.ts': CONFIG,
      'spiders/quotes.ts': spider('Quotes'),
      'spiders/shops/books.mts': spider('Books'),
      'spiders/both.ts': `${spider('One')}export class Two extends Spider { name = 'two' }`,
      'spiders/built.ts': spider('Built'),
      'spiders/built.js': spider('Built'),
      'spiders/quotes.test.ts': 'throw 1',
      'spiders/types.d.ts': 'export {}',
      'spiders/_base.ts': 'throw 1',
      'spiders/_old/x.ts': 'throw 1',
      'spiders/.hidden.ts': 'throw 1',
      'spiders/node_modules/x/index.js': 'throw 1',
      'spiders/links.ts': 'export const limit = 3',
      'spiders/readme.md': '',
    })
    expect(await ask(listed)).toMatchObject({
      value: {
        names: [
          'books spiders/shops/books.mts',
          'built spiders/built.ts',
          'one spiders/both.ts',
          'quotes spiders/quotes.ts',
          'two spiders/both.ts',
        ],
        problems: [],
      },
    })
  })

  test('come from files, folders and classes, each once', async () => {
    write({
      'webloom.config.ts': `import { defineConfig } from 'webloom'
import { Quotes } from './quotes.ts'
export default defineConfig({ spiders: [Quotes, 'quotes.ts', './more'] })`,
      'quotes.ts': spider('Quotes'),
      'more/again.ts': `export { Quotes } from '../quotes.ts'`,
      'more/books.ts': spider('Books'),
    })
    expect(await ask(listed)).toMatchObject({
      value: { names: ['books more/books.ts', 'quotes webloom.config.ts'], problems: [] },
    })
  })

  test('one broken file does not hide the others', async () => {
    write({
      'webloom.config.ts': CONFIG,
      'spiders/bad.ts': 'export enum Kind { A }',
      'spiders/quotes.ts': spider('Quotes'),
      'spiders/thrower.ts': spider('Thrower').replace(
        `name = 'thrower'`,
        `name = (() => { throw new Error('oh') })()`,
      ),
      'spiders/unnamed.ts': spider('Unnamed').replace(/name = .*/, ''),
    })
    const { value } = await ask(listed)
    const { names, problems } = value as { names: string[]; problems: string[] }
    expect(names).toEqual(['quotes spiders/quotes.ts'])
    expect(problems).toHaveLength(3)
    expect(problems[0]).toContain('spiders/bad.ts:1')
    expect(problems[1]).toContain('spiders/thrower.ts: oh')
    expect(problems[2]).toContain('spiders/unnamed.ts: Unnamed has no name')
    expect(await found('quotes')).toMatchObject({ value: 'Quotes' })
  })

  test('a base class without a name is none of them', async () => {
    write({
      'webloom.config.ts': CONFIG,
      'spiders/base.ts': spider('Base').replace(/name = .*/, ''),
      'spiders/quotes.ts': `import { Base } from './base.ts'\nexport class Quotes extends Base { name = 'quotes' }`,
    })
    expect(await ask(listed)).toMatchObject({ value: { names: ['quotes spiders/quotes.ts'], problems: [] } })
  })

  test('two of one name: both files are named, and neither is taken', async () => {
    write({
      'webloom.config.ts': CONFIG,
      'spiders/a.ts': spider('Quotes'),
      'spiders/b.ts': spider('Quotes'),
      'spiders/books.ts': spider('Books'),
    })
    const { value } = await ask(listed)
    expect(value).toMatchObject({ names: ['books spiders/books.ts'] })
    expect((value as { problems: string[] }).problems).toEqual([
      `several spiders are called "quotes": Quotes in spiders/a.ts, Quotes in spiders/b.ts. Give each a name of its own`,
    ])
    const { code, message } = await found('quotes')
    expect(code).toBe('WL_SPIDER_LOAD')
    expect(message).toContain('spiders/b.ts')
  })

  test('a name that is none: a similar one, and all there are', async () => {
    write({
      'webloom.config.ts': CONFIG,
      'spiders/quotes.ts': spider('Quotes'),
      'spiders/books.ts': spider('Books'),
    })
    const { code, message } = await found('qoutes')
    expect(code).toBe('WL_SPIDER_NOT_FOUND')
    expect(message).toBe('there is no spider "qoutes". Did you mean quotes? Spiders here: books, quotes.')
  })

  test('a spider that cannot be made without arguments is found with them', async () => {
    write({
      'webloom.config.ts': CONFIG,
      'spiders/shop.ts': `import { Spider } from 'webloom'
export default class Shop extends Spider {
  name = 'shop'
  url = ''
  startUrls = [this.args['url'].trim()]
}`,
    })
    expect((await found('shop')).message).toContain('It may be in what could not be loaded')
    expect(await found('shop', `{ url: 'http://a/' }`)).toMatchObject({ value: 'Shop' })
  })

  test('a folder that is not there', async () => {
    write({ 'webloom.config.ts': CONFIG })
    expect((await found('quotes')).message).toContain(
      'webloom.config.ts: spiders names "spiders"; there is no such file',
    )
  })
})

describe('the config file', () => {
  const loaded = `loadConfig(findConfig('.'))`

  test('is the nearest one, here or above', async () => {
    write({
      'webloom.config.ts': 'export default {}',
      'a/webloom.config.mjs': 'export default {}',
      'a/b/c/x.txt': '',
      'd/x.txt': '',
    })
    const below = (path: string) => ask(`findConfig('${path}').slice(process.cwd().length + 1)`)
    expect(await below('a/b/c')).toMatchObject({ value: 'a/webloom.config.mjs' })
    expect(await below('d')).toMatchObject({ value: 'webloom.config.ts' })
  })

  test('is taken as .ts before .js', async () => {
    write({ 'webloom.config.js': 'export default {}', 'webloom.config.ts': 'export default {}' })
    expect(await ask(`findConfig('.').slice(process.cwd().length + 1)`)).toMatchObject({
      value: 'webloom.config.ts',
    })
  })

  test('gives spiders, settings and its folder, in a commonjs package too', async () => {
    write({
      'package.json': '{ "type": "commonjs" }',
      'webloom.config.ts': `import { defineConfig } from 'webloom'
export default defineConfig({ settings: { DOWNLOAD_DELAY: 0.5 as number } })`,
    })
    expect(await ask(loaded)).toMatchObject({
      value: {
        path: join(folder, 'webloom.config.ts'),
        folder,
        spiders: ['spiders'],
        settings: { DOWNLOAD_DELAY: 0.5 },
      },
    })
  })

  test('all that is wrong with its shape is told at once', async () => {
    write({
      'webloom.config.ts': `export default { spider: 'x', DOWNLOAD_DELAY: 3, plugins: [], spiders: [3, class A {}, ''], settings: [] }`,
    })
    const { code, message } = await ask(loaded)
    expect(code).toBe('WL_SETTINGS_INVALID')
    expect(message).toContain('webloom.config.ts cannot be used:')
    expect(message).toContain('it has no key "spider". Did you mean spiders?')
    expect(message).toContain('DOWNLOAD_DELAY is a setting: write it within  settings: { DOWNLOAD_DELAY: … }')
    expect(message).toContain('it has no key "plugins". There are spiders and settings.')
    expect(message).toContain('spiders holds 3;')
    expect(message).toContain('spiders holds the function or class A;')
    expect(message).toContain('spiders holds "";')
    expect(message).toContain('settings is a list; expected an object')
  })

  test.each([
    ['no default export', 'export const config = {}', 'its default export is missing'],
    [
      'a function',
      'export default function config() {}',
      'its default export is the function or class config',
    ],
    ['a list', 'export default []', 'its default export is a list'],
    ['null', 'export default null', 'its default export is null'],
  ])('%s', async (_, source, text) => {
    write({ 'webloom.config.ts': source })
    expect((await ask(loaded)).message).toContain(text)
  })

  test('a mistake in it is told with its line', async () => {
    write({ 'webloom.config.ts': 'export default {\n  spiders: ,\n}' })
    const { code, message } = await ask(loaded)
    expect(code).toBe('WL_SETTINGS_INVALID')
    expect(message).toContain('webloom.config.ts:2:12: syntax error')
  })

  test('a command for projects says how to make one', async () => {
    const { code, message } = await ask(`projectConfig('.')`)
    expect(code).toBe('WL_USAGE')
    expect(message).toContain('there is no webloom.config.ts here or above')
    expect(message).toContain('runspider')
  })
})

describe('a component by its file', () => {
  const component = (reference: string) =>
    ask(
      `loadComponent('${reference}', { folder: process.cwd() + '/app', setting: 'DUPEFILTER_CLASS' }).then((one) => one.name)`,
    )

  beforeEach(() =>
    write({
      'app/filters.ts':
        'export class TitleFilter { a: number = 1 }\nexport default class Main {}\nexport const limit = 3',
      'app/only.ts': 'export default class Only {}',
    }),
  )

  test('is the export of that name, relative to the given folder', async () => {
    expect(await component('./filters.ts#TitleFilter')).toMatchObject({ value: 'TitleFilter' })
    expect(await component('../app/filters.ts#TitleFilter')).toMatchObject({ value: 'TitleFilter' })
    expect(await component(`${folder}/app/filters.ts#TitleFilter`)).toMatchObject({ value: 'TitleFilter' })
  })

  test('is the default export without a name', async () => {
    expect(await component('./filters.ts')).toMatchObject({ value: 'Main' })
    expect(await component('./filters.ts#')).toMatchObject({ value: 'Main' })
  })

  test.each([
    [
      './filters.ts#TitelFilter',
      'has no export TitelFilter; it exports TitleFilter, default, limit. Did you mean TitleFilter?',
    ],
    ['./only.ts#Only', 'has no export Only; it exports default. Write ./only.ts#default'],
    ['./filter.ts#TitleFilter', 'there is no file app/filter.ts (relative paths start at'],
    ['some-package#TitleFilter', 'is no path; expected a file, as in ./filters.ts#TitleFilter'],
  ])('%s: what is wrong', async (reference, text) => {
    const { code, message } = await component(reference)
    expect(code).toBe('WL_COMPONENT_LOAD')
    expect(message).toContain(`DUPEFILTER_CLASS names "${reference}", which cannot be loaded:`)
    expect(message).toContain(text)
  })

  test('a file that cannot be loaded: setting, place and cause', async () => {
    write({ 'app/bad.ts': '\nexport enum Kind { A }' })
    const { code, message } = await component('./bad.ts#Kind')
    expect(code).toBe('WL_COMPONENT_LOAD')
    expect(message).toContain('DUPEFILTER_CLASS')
    expect(message).toContain('app/bad.ts:2')
    expect(message).toContain('an enum')
  })
})
