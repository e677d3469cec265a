import { Headers } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { conditionalHeaders, type PageValidators, sameValidators, validatorsOf } from './page-validators.ts'
import { ValidatorTrust } from './validator-trust.ts'

interface Answer {
  readonly notModified: boolean
  readonly content: number
  readonly validators: PageValidators
}
type Server = (content: number, asked: PageValidators) => Answer

const tag = (of: number): PageValidators => ({ etag: `"${of}"` })
const whole = (content: number, validators: PageValidators): Answer => ({
  notModified: false,
  content,
  validators,
})
const notModified = (content: number, validators: PageValidators): Answer => ({
  notModified: true,
  content,
  validators,
})

const honest: Server = (content, { etag }) =>
  etag === `"${content}"` ? notModified(content, tag(content)) : whole(content, tag(content))
const oneTag: Server = (content, { etag }) =>
  etag === '"0"' ? notModified(content, tag(0)) : whole(content, tag(0))
const always304: Server = (content, { etag }) =>
  etag === undefined ? whole(content, tag(content)) : notModified(content, tag(content))
let answers = 0
const newTagEachTime: Server = (content) => whole(content, tag(++answers))

/** Pages of one host, each visited again and again. */
class Visits {
  readonly trust = new ValidatorTrust()
  readonly #server: Server
  readonly #known = new Map<number, { content: number; validators: PageValidators; isOutdated: boolean }>()
  readonly got = { whole: 0, notModified: 0 }

  constructor(server: Server) {
    this.#server = server
  }

  visit(page: number, content: number): void {
    const known = this.#known.get(page)
    if (!known) {
      const { validators } = this.#server(content, {})
      this.#known.set(page, { content, validators, isOutdated: false })
      return
    }
    const how = this.trust.ask(known.isOutdated)
    const first = this.#server(content, how === 'whole' ? {} : known.validators)
    const isDoubted = known.isOutdated && first.notModified
    const answer = isDoubted ? this.#server(content, {}) : first
    const asked = isDoubted ? 'whole' : how
    this.got[answer.notModified ? 'notModified' : 'whole']++
    const seen = answer.notModified ? known.content : answer.content
    const kept = this.trust.learn({
      asked,
      wasOutdated: known.isOutdated,
      isDoubted,
      notModified: answer.notModified,
      changed: seen !== known.content,
      sameValidators: sameValidators(known.validators, answer.validators),
    })
    const isOutdated = kept === 'outdated'
    this.#known.set(page, {
      content: seen,
      validators: isOutdated ? known.validators : answer.validators,
      isOutdated,
    })
  }
}

describe('validators of a host', () => {
  test('of pages that have not changed and whose host is honest, 95 of 100 cost a 304', () => {
    const visits = new Visits(honest)
    for (let round = 0; round < 4; round++) for (let page = 0; page < 500; page++) visits.visit(page, 0)
    expect(visits.got.notModified / (visits.got.notModified + visits.got.whole)).toBeGreaterThan(0.95)
    expect(visits.trust.lied).toBe(false)
  })

  test('an honest host whose pages change now and then is never taken for a liar', () => {
    const visits = new Visits(honest)
    for (let round = 0; round < 40; round++)
      for (let page = 0; page < 50; page++) visits.visit(page, Math.floor((round + page) / 3))
    expect(visits.trust.lied).toBe(false)
    expect(visits.trust.isUseless).toBe(false)
  })

  test('nor one whose pages are again what they were before', () => {
    const visits = new Visits(honest)
    for (let round = 0; round < 40; round++)
      for (let page = 0; page < 20; page++) visits.visit(page, round % 2)
    expect(visits.trust.lied).toBe(false)
  })

  test('a page that has its old tag again and was fetched whole for another reason says nothing', () => {
    const trust = new ValidatorTrust()
    trust.learn({
      asked: 'whole',
      wasOutdated: true,
      notModified: false,
      changed: true,
      sameValidators: true,
    })
    expect(trust.lied).toBe(false)
  })

  test.each([
    ['keeps its tag when the page changes', oneTag],
    ['says 304 whatever is asked', always304],
  ])('a host that %s is found out within five visits of a page', (_, server) => {
    const visits = new Visits(server)
    for (let visit = 0; visit < 5; visit++) visits.visit(1, visit)
    expect(visits.trust.lied).toBe(true)
    expect(visits.trust.ask(false)).toBe('whole')
  })

  test('tags that are new with each answer are not asked with for long', () => {
    const visits = new Visits(newTagEachTime)
    for (let page = 0; page < 50; page++) for (let visit = 0; visit < 2; visit++) visits.visit(page, 0)
    expect(visits.trust.isUseless).toBe(true)
    expect(visits.trust.lied).toBe(false)
  })

  test('a tag and a date are read as they stand, and nonsense is not sent back', () => {
    const lastModified = 'Wed, 21 Oct 2026 07:28:00 GMT'
    const validators = validatorsOf(new Headers({ etag: 'W/"a"', 'last-modified': lastModified }))
    expect(conditionalHeaders(validators)).toEqual({
      'If-None-Match': 'W/"a"',
      'If-Modified-Since': lastModified,
    })
    expect(validatorsOf(new Headers({ etag: 'a', 'last-modified': 'yesterday' }))).toEqual({})
    expect(validatorsOf(new Headers({ etag: `"${'a'.repeat(200)}"` }))).toEqual({})
  })

  test.each([
    ['has bytes outside ASCII, which would be others when they are sent', 'etag', '"\xe9\xff"'],
    ['has control characters', 'etag', '"a\tb"'],
    ['is to come', 'last-modified', 'Fri, 31 Dec 9999 23:59:59 GMT'],
    ['is before 1970, where a record begins', 'last-modified', 'Fri, 01 Jan 1960 00:00:00 GMT'],
    ['is no date, though JavaScript reads one', 'last-modified', 'page 5'],
    ['has no zone', 'last-modified', 'Wed, 21 Oct 2026 07:28:00'],
  ])('a validator that %s is not kept', (_, name, value) => {
    expect(validatorsOf(Headers.fromWire({ [name]: value }))).toEqual({})
  })

  test('dates in old forms are sent back in the one of today, and are the same', () => {
    const [now, old] = ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT']
    expect(validatorsOf(new Headers({ 'last-modified': old }))).toEqual({ lastModified: now })
    expect(validatorsOf(new Headers({ 'last-modified': 'Sun, 06 Nov 1994 10:49:37 +0200' }))).toEqual({
      lastModified: now,
    })
  })

  test('a weak tag is the same as the strong one; without a tag the date decides', () => {
    expect(sameValidators({ etag: 'W/"a"' }, { etag: '"a"' })).toBe(true)
    expect(sameValidators({ etag: '"a"', lastModified: 'x' }, { etag: '"b"', lastModified: 'x' })).toBe(false)
    expect(sameValidators({ lastModified: 'x' }, { lastModified: 'x' })).toBe(true)
    expect(sameValidators({ lastModified: 'x' }, { etag: '"too long to be kept"', lastModified: 'x' })).toBe(
      true,
    )
    expect(sameValidators({}, {})).toBe(false)
  })
})

test('of a host of two pages that take turns each is checked by its second revisit', () => {
  const trust = new ValidatorTrust()
  const asked = [1, 2, 3, 4].map((visits) => ['a', 'b'].map(() => trust.ask(false, visits)))
  expect(asked[1]).toEqual(['whole', 'whole'])
})

test('what was learned goes on elsewhere: a host that is known to be honest is asked by its validators at once', () => {
  const visits = new Visits(honest)
  for (let round = 0; round < 4; round++) for (let page = 0; page < 500; page++) visits.visit(page, 0)
  const next = new ValidatorTrust(visits.trust.record)
  const asked = Array.from({ length: 128 }, () => next.ask(false, 2))
  expect(asked.filter((how) => how === 'whole')).toHaveLength(2)
})

test('a host that was of no use, as its tags changed with each answer, is asked by them again when they no longer do', () => {
  const trust = new ValidatorTrust()
  const answer = { asked: 'whole', wasOutdated: false, notModified: false, changed: false } as const
  for (let n = 0; n < 30; n++) trust.learn({ ...answer, sameValidators: false })
  expect(trust.isUseless).toBe(true)
  trust.learn({ ...answer, sameValidators: true })
  expect(trust.isUseless).toBe(false)
})
