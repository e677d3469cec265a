import { describe, expect, test } from 'vitest'
import { projectOfFile, SPIDER } from '../../testing/loaded-project.ts'

const { write, ask } = projectOfFile()

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

  test('a file whose name has control characters is told in one line', async () => {
    write({ 'a\nwebloom: all is well\t\u001b[2J.ts': SPIDER })
    const shown = String.raw`a\nwebloom: all is well\t\x1b[2J.ts`
    expect((await nameOf('ferns.ts')).message).toMatch(`there are: ${shown}`)
    expect((await nameOf(String.raw`a\nwebloom: all is wel\t\x1b[2J.ts`)).message).toBe(
      String.raw`there is no file a\nwebloom: all is wel\t\x1b[2J.ts. Did you mean ${shown}?`,
    )
  })

  test('a folder, and a file that is not a script', async () => {
    write({ 'spiders/quotes.ts': SPIDER, 'notes.txt': '' })
    expect((await nameOf('spiders')).message).toContain(
      'spiders is a folder; give a file. In spiders there are: quotes.ts',
    )
    expect((await nameOf('notes.txt')).message).toContain('not a TypeScript or JavaScript file')
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

  test.each([
    ['nothing', '', 'gave undefined; expected a list of names'],
    ['objects', 'return [{ name: "a" }]', 'gave a list with an object; expected a list of names'],
  ])('a loader of one’s own whose list() gives %s is told so', async (_, given, shown) => {
    write({
      'webloom.config.ts': `export default { settings: { SPIDER_LOADER_CLASS: './own.ts#Own' } }`,
      'own.ts': `export class Own { list() { ${given} } load() {} }`,
    })
    const { code, message } = await ask(listed)
    expect({ code, message }).toEqual({ code: 'WL_SPIDER_LOAD', message: expect.stringContaining(shown) })
  })
})
