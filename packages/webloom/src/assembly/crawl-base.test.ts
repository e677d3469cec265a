import { silentLogger } from '@webloom/core'
import { Spider } from '@webloom/spider'
import { expect, test } from 'vitest'
import { crawlBase } from './crawl-base.ts'

class Books extends Spider {
  override name = 'books'
}

test('a stats collector that cannot be made is told by its name and setting', async () => {
  class Broken {
    constructor() {
      throw new Error('no database')
    }
  }
  const layers = { command: { STATS_CLASS: Broken } } as never
  await expect(
    crawlBase(Books, { layers, folder: '/', createLogger: () => silentLogger }),
  ).rejects.toMatchObject({
    code: 'WL_COMPONENT_LOAD',
    message: 'the stats collector Broken (STATS_CLASS) could not be made: no database',
  })
})
