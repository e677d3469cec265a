import { expect, test } from 'vitest'
import { Settings } from './settings.ts'
import { settingsTold } from './settings-told.ts'

class OwnMiddleware {}

test('what was set is told with who set it, by its class where it is one; defaults and secrets are not', () => {
  const settings = Settings.fromLayers({
    config: {
      DOWNLOAD_DELAY: 2,
      REDIS_URL: 'redis://user:hunter2@redis:6379',
      DOWNLOADER_MIDDLEWARES: [[OwnMiddleware, 100]],
      CUSTOM_API_KEY: 'hunter2',
      CUSTOM_SHOP: 'north',
      NO_SUCH_SETTING: 1,
    },
    command: { CONCURRENT_REQUESTS: 4 },
  })
  const told = settingsTold(settings)
  const of = (name: string) => told.find((one) => one.name === name)
  expect(of('DOWNLOAD_DELAY')).toEqual({ name: 'DOWNLOAD_DELAY', value: 2, source: 'config' })
  expect(of('CONCURRENT_REQUESTS')).toMatchObject({ value: 4, source: 'command' })
  expect(of('CUSTOM_SHOP')).toMatchObject({ value: 'north' })
  expect(of('LOG_LEVEL')).toBeUndefined()
  expect(of('NO_SUCH_SETTING')).toBeUndefined()
  expect(JSON.stringify(of('DOWNLOADER_MIDDLEWARES'))).toContain('OwnMiddleware')
  expect(JSON.stringify(told)).not.toContain('hunter2')
})
