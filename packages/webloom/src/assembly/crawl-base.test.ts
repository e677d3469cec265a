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

test('all components that cannot be loaded are told at once, each with its setting', async () => {
  const layers = {
    command: {
      STATS_CLASS: './stats.ts#Stats',
      FINGERPRINTER: './ids.ts#Ids',
      FEED_EXPORTERS: { xls: './xls.ts#Xls' },
    },
  } as never
  await expect(
    crawlBase(Books, { layers, folder: '/', createLogger: () => silentLogger }),
  ).rejects.toMatchObject({
    code: 'WL_SETTINGS_INVALID',
    problems: [
      expect.stringMatching(/^FINGERPRINTER names ".\/ids.ts#Ids", which cannot be loaded: there is no file/),
      expect.stringMatching(
        /^STATS_CLASS names ".\/stats.ts#Stats", which cannot be loaded: there is no file/,
      ),
      expect.stringMatching(
        /^FEED_EXPORTERS names ".\/xls.ts#Xls", which cannot be loaded: there is no file/,
      ),
    ],
  })
})
