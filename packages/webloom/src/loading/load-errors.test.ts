import { describe, expect, test } from 'vitest'
import { projectOfFile } from '../../testing/loaded-project.ts'

const { write, load } = projectOfFile()

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

  test('an error of JSON.parse is not a syntax error of a file, whatever was loaded before', async () => {
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

  test('a thrown value that is not an error', async () => {
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

  test('a name that webloom/ports exports, imported from webloom', async () => {
    const index = 'export class Spider {}'
    write({
      'node_modules/webloom/package.json': '{ "name": "webloom", "type": "module", "exports": "./index.js" }',
    })
    write({ 'node_modules/webloom/index.js': index })
    write({ 'spider.ts': `import { Spider, crawlKey } from 'webloom'\nexport const key = crawlKey(Spider)` })
    expect((await load('spider.ts')).message).toContain("Write:  import { crawlKey } from 'webloom/ports'")
    write({ 'type.ts': `import { Crawler } from 'webloom'\nexport const c = Crawler` })
    expect((await load('type.ts')).message).toContain("Write:  import type { Crawler } from 'webloom/ports'")
    write({ 'other.ts': `import { Quote } from 'webloom'\nexport const q = Quote` })
    expect((await load('other.ts')).message).toContain(
      "If Quote is a type, write:  import type { Quote } from 'webloom'",
    )
  })

  test('a part that a package does not have: where it is imported, and what was meant', async () => {
    write({
      'node_modules/parts/package.json':
        '{ "name": "parts", "type": "module", "exports": { ".": "./a.js", "./ports": "./a.js" } }',
      'node_modules/parts/a.js': 'export const a = 1',
      'spider.ts': `import { a } from 'parts'\nimport { b } from 'parts/port'`,
      'other.ts': `import { a } from 'parts/nothing'`,
    })
    const { code, message } = await load('spider.ts')
    expect(code).toBe('WL_SPIDER_LOAD')
    expect(message).toContain(
      'spider.ts:2:19: the package parts has no parts/port. Did you mean parts/ports?',
    )
    expect(message).toContain("  2 | import { b } from 'parts/port'")
    expect((await load('other.ts')).message).toContain('has no parts/nothing. It has parts, parts/ports.')
  })

  test('control characters of a source line stay visible', async () => {
    write({ 'spider.ts': `const a = '\u001b[31m' +;` })
    const { message } = await load('spider.ts')
    expect(message).toContain('\\x1b[31m')
    expect(message).not.toContain('\u001b')
  })
})

test.each([
  ["import fs = require('fs')", "Types are only stripped here. Write:  const fs = require('fs')"],
  ["import fs from 'fs'", 'this file is commonjs by its name'],
])('%s in a .cts file: what to write', async (line, told) => {
  write({ 'spider.cts': `${line}\nexport const used = fs\n` })
  expect((await load('spider.cts')).message).toContain(told)
})
