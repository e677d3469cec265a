import { Spider } from '@webloom/spider'
import { expect, test } from 'vitest'
import { ownSpiderLoader } from './own-spider-loader.ts'
import { findSpider, loadProjectSpiders } from './spider-loader.ts'

const loaderOf = (Class: object, others: object = {}) => {
  const settings = { SPIDER_LOADER_CLASS: Class, ...others }
  return ownSpiderLoader({ path: '/p/webloom.config.ts', folder: '/p', spiders: [], settings } as never)
}

test.each([
  [null, 'it threw null'],
  ['no shops', 'it threw "no shops"'],
  [new Error('no shops'), 'failed: no shops'],
])('a loader that throws %s is told by its name', async (thrown, told) => {
  class Shops {
    list(): never {
      throw thrown
    }
    load() {}
  }
  const loader = await loaderOf(Shops)
  const error = await Promise.resolve(loader!.list()).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'WL_SPIDER_LOAD' })
  expect((error as Error).message).toContain('the spider loader Shops (SPIDER_LOADER_CLASS) failed')
  expect((error as Error).message).toContain(told)
})

test.each([
  ['nothing', undefined, 'returned undefined'],
  ['a number', 5, 'returned 5 (a number)'],
])('fromSettings that returns %s is told, with what to return', async (_what, made, told) => {
  class Shops {
    static fromSettings = () => made
    list() {}
  }
  await expect(loaderOf(Shops)).rejects.toMatchObject({
    code: 'WL_SPIDER_LOAD',
    message: expect.stringContaining(`fromSettings of Shops ${told}; expected the loader`),
  })
})

test('one that never settles is told by its class, and the method that it is', async () => {
  const never = new Promise<never>(() => {})
  class Shops {
    list = () => never
    load = () => never
  }
  class Late {
    static fromSettings = () => never
    list = () => []
  }
  const loader = await loaderOf(Shops, { COMPONENT_TIMEOUT: 1 })
  const late = (name: string) =>
    `of the spider loader ${name} (SPIDER_LOADER_CLASS) has not settled within 1 s`
  await Promise.all([
    expect(loader!.list()).rejects.toThrow(`list() ${late('Shops')}`),
    expect(loader!.load('a')).rejects.toThrow(`load("a") ${late('Shops')}`),
    expect(loaderOf(Late, { COMPONENT_TIMEOUT: 1 })).rejects.toThrow(`fromSettings ${late('Late')}`),
  ])
})

test('one with a fromCrawler, which nobody would call, is refused with what to write', async () => {
  class Shops {
    static fromCrawler() {}
    list = () => []
  }
  await expect(loaderOf(Shops)).rejects.toThrow('Shops (SPIDER_LOADER_CLASS) has static fromCrawler')
})

test('a name that list() gives and load() does not know is a problem of the list, and named where it is asked for', async () => {
  class Shops {
    list = () => ['books', 'ghost']
    load = (name: string) => (name === 'books' ? Books : undefined)
  }
  class Books extends Spider {
    override name = 'books'
  }
  const settings = { SPIDER_LOADER_CLASS: Shops }
  const config = { path: '/p/webloom.config.ts', folder: '/p', spiders: [], settings } as never
  const told =
    'the spider loader of SPIDER_LOADER_CLASS lists "ghost", and its load("ghost") gave undefined; expected the class of that spider'
  const { spiders, problems } = await loadProjectSpiders(config)
  expect(spiders.map(({ name }) => name)).toEqual(['books'])
  expect(problems).toEqual([told])
  await expect(findSpider(config, 'ghost')).rejects.toMatchObject({ code: 'WL_SPIDER_LOAD', message: told })
})

test('a pattern under spiders is answered with what is expected', async () => {
  const config = {
    path: '/p/webloom.config.ts',
    folder: '/p',
    spiders: ['spiders/*.ts'],
    settings: {},
  } as never
  const told =
    'there is no such file or folder: a file or a folder is expected, with all files below it, and no pattern'
  const listed = loadProjectSpiders(config).then(
    ({ problems }) => problems.join(),
    (error: Error) => error.message,
  )
  expect(await listed).toContain(told)
})
