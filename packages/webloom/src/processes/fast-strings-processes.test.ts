import { runProcess, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'

/** Tells, as V8 sees it, whether the methods of strings are laid out for compiled code: once modules are loaded, and as the crawl goes on. */
const program = (extending: string) => `
  import { crawl, Spider } from 'webloom'

  ${extending}
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

const seenBy = async (text: string, env: Record<string, string>) => {
  const { stdout, stderr } = await runProcess(
    process.execPath,
    ['--allow-natives-syntax', '--input-type=module', '--eval', text],
    { env },
  )
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

test('a crawl makes strings fast again where a class extends String', async () => {
  expect(await seenBy(program('class Text extends String {}'), {})).toEqual({ loaded: false, started: true })
})

test('on Redis strings are fast, though the class of its client extends String', async () => {
  await using redis = await startRedis()
  expect(await seenBy(program(''), { REDIS_URL: redis.url })).toEqual({ loaded: true, started: true })
})
