import { casesOf } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { projectOfFile, SPIDER } from '../../testing/loaded-project.ts'

const { write, ask, load, loadAlone } = projectOfFile()

const NODE_MAJOR = Number(process.versions.node.split('.')[0])

describe('TypeScript files', () => {
  const packages: Record<string, string | undefined> = {
    commonjs: '{ "type": "commonjs" }',
    module: '{ "type": "module" }',
    'no type': '{}',
    'no package.json': undefined,
  }
  test.each(casesOf(packages, 'commonjs', 'no type'))(
    'are ES modules with package.json of: %s',
    async (_, packageJson) => {
      write({
        ...(packageJson === undefined ? {} : { 'package.json': packageJson }),
        'spider.ts': `import { basename } from 'node:path'\nexport const name: string = basename('/a/b')\nawait 1\n`,
      })
      expect(await loadAlone('spider.ts')).toEqual({ value: { name: 'b' }, stderr: '' })
    },
  )

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
      'spider.ts': `import { createRequire } from 'node:module'
const { a } = await import('./items')
export const b = createRequire(import.meta.url)('./items.ts').a + 1
export { a }`,
      'items.ts': 'export const a: number = 1',
    })
    expect(await load('spider.ts')).toMatchObject({ value: { a: 1, b: 2 } })
  })

  // Node 22 cannot: what a CommonJS file that was imported requires, it takes for CommonJS, whatever a hook says it is.
  test.skipIf(NODE_MAJOR < 24)('are found by a .cjs that a spider imports', async () => {
    write({
      'package.json': '{ "type": "commonjs" }',
      'spider.ts': `export { b } from './old.cjs'`,
      'items.ts': 'export const a: number = 1',
      'old.cjs': `exports.b = require('./items.ts').a + 1`,
    })
    expect(await load('spider.ts')).toMatchObject({ value: { b: 2 } })
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
