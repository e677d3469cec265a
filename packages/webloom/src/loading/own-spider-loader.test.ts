import { expect, test } from 'vitest'
import { ownSpiderLoader } from './own-spider-loader.ts'

const loaderOf = (Class: object) => {
  const settings = { SPIDER_LOADER_CLASS: Class }
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
