import { type Logger, WebloomError } from '@webloom/core'
import { expect, test } from 'vitest'
import { createLogger } from './logger.ts'
import { ToldOnce, wayOut } from './told-once.ts'

const WHY = 'Redis at h:6379 does not let this process in'
const WAY = wayOut('Type there: ACL SETUSER crawler on ><password> +get')
const refusal = () => {
  const reply = Object.assign(new Error(`${WHY}. ${WAY}`), { code: 'WL_REDIS_REFUSED' })
  return new WebloomError('WL_REDIS_REFUSED', reply.message, { cause: reply })
}

function linesOf(format: 'pretty' | 'json', log: (logger: Logger) => void): string[] {
  const lines: string[] = []
  const destination = { isTTY: false, write: (text: string) => void lines.push(text) }
  log(createLogger({ destination, format, color: false }))
  return lines.join('').trimEnd().split('\n')
}

const said = (logger: Logger) => {
  logger.warn(`${WHY}. ${WAY}. The crawl waits for up to 60 s`)
  logger.warn({ reason: refusal().message }, 'no heartbeat')
  logger.error({ err: refusal() }, 'the crawl cannot go on')
  logger.warn({ err: refusal() }, 'the stats are missing')
  const cause = refusal()
  logger.error({ err: new Error('no items', { cause }), url: 'http://a.example/' }, 'not written')
}

test.each(['pretty', 'json'] as const)(
  'what to do about a Redis that refuses a crawl is told once for each level, in a line each and without stacks: %s',
  (format) => {
    const lines = linesOf(format, said)
    expect(lines).toHaveLength(5)
    const tells = lines.map((line) => line.split(/ACL SETUSER/).length - 1)
    expect(tells).toEqual([1, 0, 1, 0, 0])
    for (const line of lines) {
      expect(line).toContain(WHY)
      expect(line.split(WHY)).toHaveLength(2)
    }
    for (const line of [1, 3, 4].map((n) => lines[n]!)) expect(line).toContain('What to do is told above')
    expect(lines[4]).toContain(`no items: ${WHY}`)
  },
)

test('another log tells it anew, and errors of other kinds keep their stacks', () => {
  for (let log = 0; log < 2; log++)
    expect(linesOf('json', (logger) => logger.warn({ err: refusal() }, 'refused'))[0]).toContain(WAY)
  const [, ...stack] = linesOf('pretty', (logger) => logger.warn({ err: new Error('a bug') }, 'broken'))
  expect(stack.length).toBeGreaterThan(1)
})

test('what is refused again ten minutes later is told with what to do', () => {
  let minutes = 0
  const once = new ToldOnce(() => minutes * 60_000)
  const line = () => String(once.of([`${WHY}. ${WAY}`], 40)[0])
  expect(line()).toContain(WAY)
  minutes = 9
  expect(line()).not.toContain(WAY)
  minutes = 11
  expect(line()).toContain(WAY)
  minutes = 13
  expect(line()).not.toContain(WAY)
})
