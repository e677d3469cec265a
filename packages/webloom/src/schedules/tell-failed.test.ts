import { Spider } from '@webloom/spider'
import { expect, test } from 'vitest'
import { createLogger } from '../terminal/logger.ts'
import { Screen } from '../terminal/screen.ts'
import { tellFailed } from './tell-failed.ts'

test('where nobody can be told, as the spider itself throws, the log has why and what has caused it, without secrets', async () => {
  const lines: string[] = []
  const destination = new Screen({ isTTY: false, write: (line: string) => lines.push(line) > 0 })
  const logger = createLogger({ destination })
  class Throws extends Spider {
    override name = 'throws'
    constructor() {
      super()
      throw new TypeError('no postgres://bob:hush1@db.example/shop', { cause: new Error('token=hush2') })
    }
  }
  const config = { path: '/srv/webloom.config.ts', folder: '/srv', spiders: [], settings: {} }
  const untold = { id: 'a', schedule: 'daily', crawlId: null, why: 'RECRAWL is off', at: Date.now() }
  const left = await tellFailed({ Class: Throws, flags: {}, config, logger }, { ...untold, tries: 1 })
  expect(left).toEqual({ 'all channels': 'no postgres://***@db.example/shop' })
  const text = lines.join('')
  expect(text).toContain('postgres://***@db.example/shop')
  expect(text).toMatch(/caused by.*token=\*\*\*/)
  expect(text).not.toMatch(/hush|bob/)
})
