import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { projectOfFile } from '../../testing/loaded-project.ts'

const project = projectOfFile()
const { write, ask } = project

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
        path: join(project.folder, 'webloom.config.ts'),
        folder: project.folder,
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
    expect(await component(`${project.folder}/app/filters.ts#TitleFilter`)).toMatchObject({
      value: 'TitleFilter',
    })
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
    ['file://host/filters.ts#TitleFilter', 'file://host/filters.ts names no file: File URL host must be'],
    ['some-package#TitleFilter', 'is not a path; expected a file, as in ./filters.ts#TitleFilter'],
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
