import { markLockedOut, silentLogger, WebloomError } from '@webloom/core'
import { expect, test } from 'vitest'
import { CrawlFailures } from './crawl-failures.ts'

const REFUSED = 'Redis at h:6379 does not let this process in any more'
/** Each connection makes its own. */
const refused = () => new WebloomError('WL_REDIS_REFUSED', REFUSED)
const unwritten = (cause: Error) =>
  new WebloomError('WL_OUTPUT_FAILED', `items cannot be written to the key k: ${cause.message}`, { cause })

function heard() {
  const errors: string[] = []
  const error = (fields: object | string, text?: string) => void errors.push(text ?? String(fields))
  return { errors, failures: new CrawlFailures({ ...silentLogger, error }) }
}

test.each([
  { order: 'first', meets: [refused(), unwritten(refused()), unwritten(refused()), refused()] },
  { order: 'last', meets: [unwritten(refused()), unwritten(refused()), refused(), refused()] },
])(
  'a Redis that refuses a crawl and its items is told once, and is why it ends: the crawl is refused $order',
  ({ meets }) => {
    const { errors, failures } = heard()
    for (const error of meets) failures.meet(error)
    failures.meetAtClosing('pipelines and feeds', unwritten(refused()))
    expect(errors).toEqual([expect.stringMatching(/^the crawl /)])
    expect(failures.reason).toBe('internal_error')
    expect(failures.outputFailure).toBe(undefined)
  },
)

test('items whose Redis does not let the process in end the crawl as that does, also where nothing else has met it', () => {
  const { errors, failures } = heard()
  const locked = refused()
  markLockedOut(locked)
  failures.meet(unwritten(locked))
  expect(errors).toHaveLength(1)
  expect(failures.reason).toBe('internal_error')
  expect(failures.outputFailure).toBe(undefined)
})

test('what the log says already is not told again, nor the items that meet it', () => {
  const { errors, failures } = heard()
  failures.meet(refused(), true)
  for (const error of [refused(), unwritten(refused())]) failures.meet(error)
  failures.meetAtClosing('pipelines and feeds', refused())
  expect(errors).toEqual([])
  expect(failures.reason).toBe('internal_error')
})

test('an output that fails for another reason is told once, whatever came before, and what came first is why it ends', () => {
  const full = unwritten(new Error('the disk is full'))
  for (const [meets, reason] of [
    [[refused(), full, full], 'internal_error'],
    [[full, full, refused()], 'output_failed'],
  ] as const) {
    const { errors, failures } = heard()
    for (const error of meets) failures.meet(error)
    failures.meetAtClosing('pipelines and feeds', full)
    expect(errors.toSorted()).toEqual(['the crawl cannot go on', `the crawl ends: ${full.message}`])
    expect(failures.reason).toBe(reason)
    expect(failures.outputFailure).toBe(reason === 'output_failed' ? full : undefined)
  }
})
