import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, MemoryStatsCollector } from '@webloom/core'
import { cpuMs } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { createLogger, type LoggerOptions } from './logger.ts'

/** A stream that keeps what is written to it. */
function sheet(isTTY = false) {
  return {
    isTTY,
    text: '',
    write(text: string) {
      this.text += text
    },
  }
}

function logged(options: LoggerOptions, log: (logger: Logger) => void): string {
  const destination = sheet()
  log(createLogger({ destination, color: false, ...options }))
  return destination.text
}

const pretty = (log: (logger: Logger) => void) => logged({ format: 'pretty', level: 'DEBUG' }, log)
const json = (log: (logger: Logger) => void) =>
  JSON.parse(logged({ format: 'json' }, log)) as Record<string, unknown>

test('what a command of Redis was sent with is not in the log: it may be a password', () => {
  const reply = Object.assign(new Error('WRONGPASS'), {
    command: { name: 'hello', args: ['3', 'AUTH', 'crawler', 's3cr3t'] },
  })
  const lost = Object.assign(new Error('lost'), { lastNodeError: reply })
  for (const log of [pretty, (by: (logger: Logger) => void) => JSON.stringify(json(by))]) {
    const text = log((logger) => logger.error({ err: lost, reply }, 'away'))
    expect(text).not.toContain('s3cr3t')
  }
  expect(json((logger) => logger.error({ reply }, 'away'))).toMatchObject({
    reply: { command: { name: 'hello', args: [] } },
  })
  expect(reply.command.args).toHaveLength(4)
})

test('what looks like a secret in an error’s text is hidden, in those that caused it, too', () => {
  const cause = new Error('refused with Authorization: Bearer hush1')
  const error = new Error('no shop; password: hush2', { cause })
  const { err } = json((logger) => logger.error({ err: error }, 'away')) as {
    err: { message: string; stack: string }
  }
  expect(err.message).toBe('no shop; password: ***')
  expect(err.stack).toMatch(/^Error: no shop; password: \*\*\*\n {4}at /)
  expect(err.stack).toContain('Authorization: ***\n')
  expect(JSON.stringify(err)).not.toContain('hush')
  expect(error.message).toContain('hush2')
})

describe('for people', () => {
  test('a line has time, level, message and fields', () => {
    expect(
      pretty((log) => log.info({ url: 'http://a/?b=c', status: 200, ok: true, none: null }, 'crawled')),
    ).toMatch(/^\d\d:\d\d:\d\d INFO {5}crawled url="http:\/\/a\/\?b=c" status=200 ok=true none=null\n$/)
  })

  test('levels have their Scrapy names', () => {
    const text = pretty((log) => {
      log.debug('a')
      log.info('b')
      log.warn('c')
      log.error('d')
    })
    expect(text.match(/(?<=:\d\d )\w+/g)).toEqual(['DEBUG', 'INFO', 'WARNING', 'ERROR'])
  })

  test('text with spaces, lists and objects are JSON, and a child adds its own', () => {
    const text = pretty((log) =>
      log.child({ spider: 'quotes', feed: 'x.csv' }).info({ a: 'two words', b: [1, { c: '' }] }, 'got'),
    )
    expect(text).toContain(' got feed=x.csv a="two words" b=[1,{"c":""}]\n')
  })

  test('no control character of a page comes through, wherever it stands', () => {
    const evil = '\u001b[2J\u009b31m\u202e\u0007'
    const error = new TypeError(`bad ${evil}`, { cause: new Error(evil) })
    const text = pretty((log) =>
      log
        .child({ [`bound${evil}`]: evil })
        .error({ err: error, [evil]: evil, deep: { [evil]: [evil] } }, `message ${evil}`),
    )
    expect(text).toContain('message \\x1b[2J\\x9b31m\\u202e\\x07')
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\u202e/u)
  })

  test('a page cannot fake a line of the log', () => {
    const text = pretty((log) => log.info({ title: 'x\n12:00:00 ERROR all is lost' }, 'a\n12:00:00 ERROR\rb'))
    expect(text.split('\n').filter((line) => /^\d\d:/.test(line))).toHaveLength(1)
  })

  test('a stack stands below its line, with its causes', () => {
    const text = pretty((log) =>
      log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed'),
    )
    const [head, first, ...rest] = text.trimEnd().split('\n')
    expect(head).toMatch(/ failed err="outer: inner"$/)
    expect(first).toBe('    Error: outer')
    expect(rest.every((line) => line.startsWith('    '))).toBe(true)
    expect(text).toContain('logger.test.ts')
    expect(text).toContain('inner')
  })

  test('an error under any name is an error', () => {
    expect(pretty((log) => log.warn({ reason: new RangeError('too far') }, 'no'))).toContain(
      'RangeError: too far',
    )
  })

  test('an error that cannot be read is told all the same', () => {
    const unreadable = Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('nobody reads this')
      },
    })
    expect(pretty((log) => log.error({ err: unreadable }, 'the callback threw'))).toContain(
      'the callback threw',
    )
  })

  test('long values are cut', () => {
    expect(pretty((log) => log.info({ body: 'x'.repeat(100_000) }, 'got')).length).toBeLessThan(2_200)
  })

  test('colours are ours, and can be switched off', () => {
    expect(logged({ format: 'pretty', color: true }, (log) => log.error('a'))).toContain('\u001b[31m')
    expect(logged({ format: 'pretty', color: false }, (log) => log.error('a'))).not.toContain('\u001b')
  })
})

describe('as JSON', () => {
  test('a line has ISO time, level, message, fields, and says which process wrote it', () => {
    const line = json((log) => log.warn({ url: 'http://a/' }, 'slow'))
    expect(line).toMatchObject({ level: 'WARNING', msg: 'slow', url: 'http://a/', pid: process.pid })
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  })

  test('control characters are escaped, also those that JSON allows', () => {
    const text = logged({ format: 'json' }, (log) =>
      log.info({ a: '\u009b\u007f\u202e' }, '\u001b[2J\n\u0085'),
    )
    expect(text.slice(0, -1)).not.toMatch(/\p{Cc}|\u202e/u)
    expect(JSON.parse(text)).toMatchObject({ a: '\u009b\u007f\u202e', msg: '\u001b[2J\n\u0085' })
  })

  test('fields of an item do not overwrite those of the line', () => {
    const line = json((log) => log.info({ level: 'low', time: 0, msg: 'x', pid: 0 }, 'item'))
    expect(line).toMatchObject({
      level: 'INFO',
      msg: 'item',
      level_: 'low',
      time_: 0,
      msg_: 'x',
      pid: process.pid,
      pid_: 0,
    })
  })

  test('an error has type, message, stack and what it carries', () => {
    const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    const line = json((log) => log.error({ err: error }, 'failed'))
    expect(line.err).toMatchObject({
      type: 'Error',
      message: 'refused',
      code: 'ECONNREFUSED',
      stack: error.stack,
    })
  })

  test('what JSON has no form for does not throw', () => {
    const circle: Record<string, unknown> = { big: 10n }
    circle.self = circle
    expect(json((log) => log.info({ circle, f: () => 1 }, 'odd'))).toMatchObject({ msg: 'odd' })
  })
})

describe('the form', () => {
  test.each([
    ['auto', true, /^\d\d:/],
    ['auto', false, /^\{/],
    ['pretty', false, /^\d\d:/],
    ['json', true, /^\{/],
  ] as const)('%s on a terminal: %s', (format, isTTY, begin) => {
    const destination = sheet(isTTY)
    createLogger({ format, destination, color: false }).info('a')
    expect(destination.text).toMatch(begin)
  })
})

describe('the level', () => {
  test.each([
    ['DEBUG', 4],
    ['INFO', 3],
    ['WARNING', 2],
    ['warn', 2],
    ['ERROR', 1],
    ['CRITICAL', 0],
  ])('%s', (level, lines) => {
    const text = logged({ level, format: 'json' }, (log) => {
      for (const name of ['debug', 'info', 'warn', 'error'] as const) log[name]('a')
    })
    expect(text.split('\n')).toHaveLength(lines + 1)
  })

  test('decides what is counted, in children too', () => {
    const stats = new MemoryStatsCollector()
    logged({ level: 'INFO', stats }, (log) => {
      log.debug('not')
      log.info('one')
      log.child({ a: 1 }).info('two')
      log.child({ a: 1 }).error({ b: 1 }, 'three')
      log.warn('four')
    })
    expect(stats.snapshot()).toEqual({ 'log_count/ERROR': 1, 'log_count/INFO': 2, 'log_count/WARNING': 1 })
  })

  test('what it leaves out at WARNING and above is counted all the same', () => {
    const stats = new MemoryStatsCollector()
    const text = logged({ level: 'CRITICAL', stats }, (log) => {
      log.info('not')
      log.warn('one')
      log.child({ a: 1 }).error('two')
    })
    expect(text).toBe('')
    expect(stats.snapshot()).toEqual({ 'log_count/WARNING': 1, 'log_count/ERROR': 1 })
  })

  test('a switched off log writes nothing and still counts', () => {
    const stats = new MemoryStatsCollector()
    expect(logged({ enabled: false, stats }, (log) => log.child({}).error('a'))).toBe('')
    expect(stats.get('log_count/ERROR')).toBe(1)
  })

  test('a line below it costs next to nothing', () => {
    const logger = createLogger({ destination: sheet() })
    const started = cpuMs()
    for (let index = 0; index < 1_000_000; index++) logger.debug('not written')
    // Measured: 5 ms. A line that is written costs several microseconds, so a million would take seconds.
    expect(cpuMs() - started).toBeLessThan(1500)
  })
})

describe('in a file', () => {
  test('appends or begins anew, makes the folder, and is there at once', () => {
    const folder = mkdtempSync(join(tmpdir(), 'webloom-log-'))
    try {
      const path = join(folder, 'logs', 'crawl.log')
      createLogger({ destination: { path } }).info('one')
      createLogger({ destination: { path, append: true } }).info('two')
      expect(readFileSync(path, 'utf8').match(/"msg":"\w+"/g)).toEqual(['"msg":"one"', '"msg":"two"'])
      createLogger({ destination: { path, append: false }, format: 'pretty' }).info('three')
      expect(readFileSync(path, 'utf8')).toMatch(/^[\d:]+ INFO {5}three\n$/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('that cannot be written: before the crawl starts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'webloom-log-'))
    writeFileSync(join(folder, 'file'), '')
    const path = join(folder, 'file', 'crawl.log')
    expect(() => createLogger({ destination: { path } })).toThrow(
      expect.objectContaining({ code: 'WL_OUTPUT_UNWRITABLE' }),
    )
    rmSync(folder, { recursive: true })
  })
})
