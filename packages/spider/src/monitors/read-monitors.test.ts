import { Settings } from '@webloom/core'
import { expect, test } from 'vitest'
import type { Monitors } from '../monitor-rules.ts'
import { readMonitors } from './read-monitors.ts'

const read = (own: unknown, layers: Parameters<typeof Settings.fromLayers>[0] = {}) => {
  class Quotes {
    static monitors = own
    readonly name = 'quotes'
  }
  return readMonitors(new Quotes(), Settings.fromLayers(layers))
}

test('a spider without monitors has none, and pays for none', () => {
  expect(read(undefined)).toBeUndefined()
  expect(read({ errors: 1 }, { command: { SPIDERMON_ENABLED: false } })).toBeUndefined()
})

test('each setting of spidermon is one of the monitors', () => {
  const project = {
    SPIDERMON_MIN_ITEMS: 10,
    SPIDERMON_JOBS_COMPARISON_THRESHOLD: 0.8,
    SPIDERMON_MAX_ERRORS: 1,
    SPIDERMON_MAX_WARNINGS: 2,
    SPIDERMON_MAX_CRITICALS: 0,
    SPIDERMON_EXPECTED_FINISH_REASONS: ['finished'],
    SPIDERMON_UNWANTED_HTTP_CODES: { 403: 5, 500: { max_count: 100, max_percentage: 0.5 } },
    SPIDERMON_MAX_DOWNLOADER_EXCEPTIONS: 3,
    SPIDERMON_MAX_RETRIES: 4,
    SPIDERMON_MIN_SUCCESSFUL_REQUESTS: 5,
    SPIDERMON_MAX_REQUESTS_ALLOWED: -1,
    SPIDERMON_MAX_ITEM_VALIDATION_ERRORS: 6,
    SPIDERMON_FIELD_COVERAGE_RULES: { 'dict/author/name': 0.9 },
    SPIDERMON_MAX_EXECUTION_TIME: 1800,
  }
  const { items, ...others } = read(undefined, { config: project })!
  expect(items?.min).toBe(10)
  expect(items?.drop).toBeCloseTo(0.2)
  expect(others).toEqual({
    errors: 1,
    warnings: 2,
    criticals: 0,
    finishReasons: ['finished'],
    statuses: { 403: 5, 500: { max: 100, share: 0.5 } },
    exceptions: 3,
    retries: 4,
    successes: 5,
    invalidItems: 6,
    coverage: { 'author.name': 0.9 },
    maxMinutes: 30,
  } satisfies Monitors)
})

test('a list of statuses has one bound', () => {
  const project = { SPIDERMON_UNWANTED_HTTP_CODES: ['403'], SPIDERMON_UNWANTED_HTTP_CODES_MAX_COUNT: 7 }
  expect(read(undefined, { config: project })).toEqual({ statuses: { 403: 7 } })
})

test('the spider’s own come before those of the project, and those of the command line before both', () => {
  const layers = { config: { MONITORS: { errors: 1, warnings: 1 } } }
  expect(read({ errors: 2 }, layers)).toEqual({ errors: 2, warnings: 1 })
  expect(read({ errors: 2 }, { command: { MONITORS: { errors: 3 } } })).toEqual({ errors: 3 })
})

test('a setting with spidermon’s name that is typed comes before what the spider says, and leaves the rest of it', () => {
  const own = { items: { min: 100, drop: 0.3 }, errors: 2 }
  expect(read(own, { command: { SPIDERMON_MIN_ITEMS: 5 }, config: { SPIDERMON_MAX_ERRORS: 9 } })).toEqual({
    items: { min: 5, drop: 0.3 },
    errors: 2,
  })
})

test('what is misspelt or no bound is told, all at once, with what may have been meant', () => {
  const wrong = {
    itms: { min: 1 },
    items: { mn: 2 },
    errors: '3',
    coverage: { price: 95 },
    custom: 1,
    maxMinutes: 0,
  }
  expect(() => read(wrong)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(
        /static monitors of Quotes has no "itms"\. Did you mean items\?[\s\S]*items has no "mn"\. Did you mean min\?[\s\S]*errors is "3" \(a string\); expected a whole number[\s\S]*"price" is 95 \(a number\): expected a share between 0 and 1[\s\S]*custom is 1[\s\S]*maxMinutes is 0/,
      ),
    }),
  )
})

test('monitors that are not static, or are called monitor, are refused with the line to write', () => {
  class Field {
    readonly monitors = { items: { min: 500 } }
  }
  class Getter {
    get monitors() {
      return { itms: { min: 500 } }
    }
  }
  class Singular {
    static monitor = { errors: 0 }
    readonly name = 'singular'
  }
  class Heir extends Singular {}
  class Both {
    static monitors = { errors: 0 }
    readonly monitor = { errors: 1 }
  }
  const reads = (Class: new () => object) => () => readMonitors(new Class(), Settings.fromLayers({}))
  const line =
    'is read by nobody, so nothing would be judged; write: static override monitors: Monitors = { … }'
  expect(reads(Field)).toThrow(`monitors of Field ${line}`)
  expect(reads(Getter)).toThrow(`monitors of Getter ${line}`)
  expect(reads(Singular)).toThrow(`static monitor of Singular ${line}`)
  expect(reads(Heir)).toThrow(`static monitor of Heir ${line}`)
  expect(reads(Both)).toThrow(`monitor of Both ${line}`)
})

test('a field of the spider that is called monitors and holds something else is its own', () => {
  class Screens {
    readonly monitors = [{ items: 4 }]
    readonly monitor = { diagonal: 27, brand: 'any' }
  }
  expect(readMonitors(new Screens(), Settings.fromLayers({}))).toBeUndefined()
})

test('what no response has for a status is refused, and a class of statuses is not', () => {
  for (const wrong of ['abc', '4040', '40', '4XX', '4x', '6xx', '0xx', ''])
    expect(() => read({ statuses: { [wrong]: 0 } })).toThrow(
      `${JSON.stringify(wrong)} is no status: expected one, as 403, or a class of them, as 4xx`,
    )
  const monitors = { statuses: { 403: 0, 999: 1, '4xx': 5, '5xx': { share: 0.01 } } } satisfies Monitors
  expect(read(monitors)).toEqual(monitors)
})

test('tsc finds a misspelt key', () => {
  // @ts-expect-error itms
  const monitors: Monitors = { itms: { min: 1 } }
  expect(monitors).toBeDefined()
})
