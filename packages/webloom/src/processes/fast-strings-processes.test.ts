import { runProcess, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'

/** Tells, as V8 sees it, whether the methods of strings are laid out for compiled code: as the spider is loaded, and as it starts. */
const PROGRAM = `
  import { crawl, Spider } from 'webloom'

  class Text extends String {}
  const isFast = () => %HasFastProperties(String.prototype)
  const seen = { loaded: isFast() }

  class Quiet extends Spider {
    name = 'quiet'
    async *start() {
      seen.started = isFast()
    }
  }
  await crawl(Quiet, { settings: { LOG_ENABLED: false } })
  console.log(JSON.stringify(seen))`

test('a crawl on Redis finds the methods of strings fast, though classes of libraries extend String', async () => {
  await using redis = await startRedis()
  const args = ['--allow-natives-syntax', '--input-type=module', '--eval', PROGRAM]
  const { stdout, stderr } = await runProcess(process.execPath, args, { env: { REDIS_URL: redis.url } })
  expect({ stdout, stderr }).toEqual({ stdout: '{"loaded":false,"started":true}\n', stderr: '' })
})
