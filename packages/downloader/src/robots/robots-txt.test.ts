import { readFileSync } from 'node:fs'
import { cpuMs } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { RobotsTxt } from './robots-txt.ts'

interface RobotsCase {
  robotstxt: string
  user_agent: string
  url: string
  allowed: boolean
  crawl_delay: number | 'inf' | null
  sitemaps: string[]
}

const { cases } = JSON.parse(
  readFileSync(new URL('../../testdata/robots.json', import.meta.url), 'utf8'),
) as { cases: RobotsCase[] }

/** Where the RFC, or Scrapy around its parser, has it otherwise: docs/from-scrapy.md gives the reasons. */
const DEVIATIONS: readonly { robotstxt: string; reason: string }[] = [
  {
    robotstxt: 'User-agent: goog\nDisallow: /\n',
    reason: 'RFC 9309, 2.2.1: `goog` is not the name of Googlebot',
  },
  {
    robotstxt: '\ufeffUser-agent: *\nDisallow: /\n',
    reason: 'Scrapy takes the byte order mark off before protego sees it',
  },
  { robotstxt: 'User-agent: *\u2028Disallow: /a', reason: 'RFC 9309, 2.2: only CR and LF end a line' },
]

describe('RobotsTxt answers as protego does', () => {
  const rows = cases.map((one) => [one.robotstxt, one.user_agent, one.url, one] as const)

  test.each(rows)('%j for %s: %s', (robotstxt, userAgent, url, expected) => {
    const robots = RobotsTxt.parse(robotstxt)
    const delay = expected.crawl_delay === 'inf' ? Number.POSITIVE_INFINITY : expected.crawl_delay
    expect(robots.crawlDelay(userAgent)).toBe(delay)
    expect(robots.sitemaps).toEqual(expected.sitemaps)
    if (!DEVIATIONS.some((one) => one.robotstxt === robotstxt))
      expect(robots.canFetch(url, userAgent)).toBe(expected.allowed)
  })

  test.each(DEVIATIONS)('but for $robotstxt: $reason', ({ robotstxt }) => {
    const differ = cases
      .filter((one) => one.robotstxt === robotstxt)
      .map(({ user_agent, url, allowed }) => {
        return RobotsTxt.parse(robotstxt).canFetch(url, user_agent) !== allowed
      })
    expect(differ).toContain(true)
  })
})

const allows = (robotstxt: string, url: string, userAgent = 'ExampleBot') =>
  RobotsTxt.parse(robotstxt).canFetch(url, userAgent)
const everybody = (...rules: string[]) => ['User-agent: *', ...rules].join('\n')

describe('which group is a crawler’s (RFC 9309, 2.2.1)', () => {
  const groups =
    'User-agent: *\nDisallow: /s\n\nUser-agent: exampleBOT\nDisallow: /e\n\nUser-agent: Example\nDisallow: /x'

  test.each([
    'ExampleBot',
    'examplebot/2.1',
    'Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)',
    'Mozilla/5.0 (Linux; like Gecko) ExampleBot (+https://example.com)',
  ])('%s finds its own by name, in any case', (userAgent) => {
    expect([
      allows(groups, '/e', userAgent),
      allows(groups, '/s', userAgent),
      allows(groups, '/x', userAgent),
    ]).toEqual([false, true, true])
  })

  test.each(['ExampleBotany', 'Bot', 'Other/1.0 (+https://ExampleBot.com/ExampleBot/)', ''])(
    '%j is none of them, and has the one for everybody',
    (userAgent) => {
      expect([allows(groups, '/e', userAgent), allows(groups, '/s', userAgent)]).toEqual([true, false])
    },
  )

  test('groups of the same name are one, wherever they stand', () => {
    const merged =
      'User-agent: a\nDisallow: /1\n\nUser-agent: b\nDisallow: /2\n\nUser-agent: A\nAllow: /1/ok\nDisallow: /3'
    expect(['/1', '/1/ok', '/2', '/3'].map((path) => allows(merged, path, 'a'))).toEqual([
      false,
      true,
      true,
      false,
    ])
  })

  test('other records end no group, however many there are', () => {
    const split =
      'User-agent: a\nSitemap: http://x/s.xml\nFoo: bar\nNonsense\nCrawl-delay: 3\n\nUser-agent: b\nHost: x\nDisallow: /'
    expect([allows(split, '/', 'a'), allows(split, '/', 'b'), allows(split, '/', 'c')]).toEqual([
      false,
      false,
      true,
    ])
    expect(RobotsTxt.parse(split).crawlDelay('a')).toBe(3)
    expect(RobotsTxt.parse(split).crawlDelay('b')).toBe(null)
  })

  test('a group without rules allows all: it is not completed from the one for everybody', () => {
    expect(allows('User-agent: a\nDisallow:\n\nUser-agent: *\nDisallow: /\nCrawl-delay: 9', '/x', 'a')).toBe(
      true,
    )
    expect(RobotsTxt.parse('User-agent: a\nDisallow:\n\nUser-agent: *\nCrawl-delay: 9').crawlDelay('a')).toBe(
      null,
    )
  })

  test('rules above the first User-agent line are nobody’s', () => {
    expect(allows('Disallow: /\nUser-agent: *\nDisallow: /a', '/b')).toBe(true)
  })

  test('a name ends where no name goes on; an asterisk in it stands for anything', () => {
    for (const name of ['ExampleBot/2.1', 'ExampleBot (the good one)', 'Example*', '*Bot'])
      expect([name, allows(`User-agent: ${name}\nDisallow: /`, '/')]).toEqual([name, false])
    expect(allows('User-agent: 360Spider\nDisallow: /', '/', '360Spider/1.0')).toBe(false)
    expect(allows('User-agent: archive.org_bot\nDisallow: /', '/', 'archive.org_bot')).toBe(false)
  })
})

describe('which rule counts (RFC 9309, 2.2.2)', () => {
  test.each([
    [['Allow: /p', 'Disallow: /'], '/page', true],
    [['Allow: /folder', 'Disallow: /folder'], '/folder/page', true],
    [['Allow: /page', 'Disallow: /*.htm'], '/page.htm', false],
    [['Allow: /page', 'Disallow: /*.ph'], '/page.php5', true],
    [['Allow: /$', 'Disallow: /'], '/', true],
    [['Allow: /$', 'Disallow: /'], '/page.htm', false],
    [
      ['Allow: /example/page/', 'Disallow: /example/page/disallowed.gif'],
      '/example/page/disallowed.gif',
      false,
    ],
    [['Disallow: /'], '/robots.txt', true],
    [['Disallow: /*.txt$'], 'https://example.com:8080/robots.txt', true],
    [['Disallow: /robots.txt/x'], '/robots.txt/x', false],
  ])('%j: %s %s', (rules, path, allowed) => {
    expect(allows(everybody(...rules), path)).toBe(allowed)
    expect(allows(everybody(...rules.toReversed()), path)).toBe(allowed)
  })

  test.each([
    ['/fish', ['/fish', '/fish.html', '/fish/salmon', '/fish.php?id=1'], ['/Fish', '/catfish', '/?id=fish']],
    ['/fish*', ['/fish', '/fishheads'], ['/Fish']],
    ['/fish/', ['/fish/', '/fish/?id=1'], ['/fish', '/fish.html']],
    ['/*.php', ['/index.php', '/folder/file.php?x', '/a.php/'], ['/', '/windows.PHP']],
    ['/*.php$', ['/a.php', '/folder/a.php'], ['/a.php?x', '/a.php/', '/a.php5']],
    ['/fish*.php', ['/fish.php', '/fishheads/catfish.php?x'], ['/Fish.PHP']],
    ['*/x$', ['/x', '/a/x'], ['/x/']],
    ['/a*b*a$', ['/aba', '/abba', '/ab-a-a'], ['/aa', '/ab', '/abab']],
    ['/ab*ba$', ['/abba', '/ab/ba'], ['/aba']],
    ['fish', [], ['/fish']],
    ['/a$b', ['/a$b', '/a%24b/c'], ['/a', '/ab']],
    ['/a%24', ['/a$', '/a%24x'], ['/a']],
    ['/a%2A', ['/a*', '/a%2a/x'], ['/ab', '/a']],
    ['/?q=', ['/?q=1', 'https://example.com?q=1'], ['/x?q=1']],
  ])('%s is about %j and not about %j', (pattern, about, others) => {
    expect(about.filter((path) => allows(everybody(`Disallow: ${pattern}`), path))).toEqual([])
    expect(others.filter((path) => !allows(everybody(`Disallow: ${pattern}`), path))).toEqual([])
  })

  test.each([
    ['/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar'],
    ['/foo/bar/ツ', '/foo/bar/%E3%83%84'],
    ['/foo/bar/%62%61%7A', '/foo/bar/baz'],
    ['/~joe', '/%7ejoe'],
    ['/a b', '/a%20b'],
    ['/a;b,c', '/a%3bb%2Cc'],
    ['/{a}', '/%7Ba%7D'],
    ['/?a=b&c+d', '/?a%3Db%26c%2bd'],
    ['/100%', '/100%25'],
    ['/*url=a/b', '/go?url=a%2Fb'],
  ])('%s and %s are the same', (one, other) => {
    for (const [rule, path] of [
      [one, other],
      [other, one],
      [one, one],
      [other, other],
    ] as const) {
      // An asterisk is one only in a rule.
      if (!path.includes('*'))
        expect([rule, path, allows(everybody(`Disallow: ${rule}`), path)]).toEqual([rule, path, false])
    }
  })

  test.each([
    ['/a/b', '/a%2Fb'],
    ['/a?b', '/a%3Fb'],
    ['/é', '/%E9'],
  ])('%s and %s are not', (one, other) => {
    expect(allows(everybody(`Disallow: ${one}`), other)).toBe(true)
    expect(allows(everybody(`Disallow: ${other}`), one)).toBe(true)
  })

  test('who allows an index page allows the folder that shows it', () => {
    const robots = everybody('Allow: /dir/index.html', 'Disallow: /')
    expect(['/dir/', '/dir/index.html', '/dir', '/dir/x'].map((path) => allows(robots, path))).toEqual([
      true,
      true,
      false,
      false,
    ])
  })
})

describe('files as they are', () => {
  test.each([
    ['LF', '\n'],
    ['CR LF', '\r\n'],
    ['CR', '\r'],
  ])('lines end with %s', (_, end) => {
    const robots = ['# for all', 'USER-AGENT:*', 'disallow : /a # not this', '\tDisAllow:\t/b\t', ''].join(
      end,
    )
    expect(['/a', '/b', '/c'].map((path) => allows(robots, path))).toEqual([false, false, true])
  })

  test('bytes, with a byte order mark or half of one, and with a path that is not UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      Buffer.from('User-agent: *\nDisallow: /caf'),
      Buffer.from([0xe9, 0x0a]),
      Buffer.from('Disallow: /à\nSitemap: https://example.com/é.xml'),
    ])
    expect(RobotsTxt.parse(bytes).sitemaps).toEqual(['https://example.com/é.xml'])
    const robots = RobotsTxt.parse(bytes)
    expect(robots.canFetch('/caf%E9/x', 'a')).toBe(false)
    // Its last byte is what Latin-1 has for a blank.
    expect(robots.canFetch('/%C3%A0', 'a')).toBe(false)
    expect(robots.canFetch('/%C3', 'a')).toBe(true)
    const half = Buffer.concat([bytes.subarray(0, 2), bytes.subarray(3)])
    for (const start of [bytes, half, bytes.subarray(3), new Uint8Array(bytes)])
      expect(RobotsTxt.parse(start).canFetch('/%C3%A0', 'a')).toBe(false)
  })

  test('after 500 KiB nothing is read, nor a line that begins before and ends behind', () => {
    const head = 'User-agent: *\nDisallow: /early\n'
    const fill = `${'#'.repeat(511_999 - head.length - 'Disallow: /late'.length)}\n`
    // The limit falls behind `/late`; taken for a rule, it would forbid far too much.
    const cut = `${head}${fill}Disallow: /late/page\nDisallow: /behind`
    const whole = `${head}${fill}Disallow: /late\nDisallow: /behind`
    expect(cut.slice(0, 512_000).endsWith('/late')).toBe(true)
    for (const file of [cut, Buffer.from(cut)])
      expect(
        ['/early', '/late/page', '/behind'].map((path) => RobotsTxt.parse(file).canFetch(path, 'a')),
      ).toEqual([false, true, true])
    expect(['/early', '/late/page', '/behind'].map((path) => allows(whole, path))).toEqual([
      false,
      false,
      true,
    ])
  })

  test.each([
    [
      'a page',
      '<!DOCTYPE html><html><head><title>User-agent: *</title></head>\n<body>Disallow: /</body></html>',
    ],
    ['JSON', '{"User-agent": "*", "Disallow": "/"}'],
    ['nothing', ''],
    ['a compressed file', '\x1f\x8b\x08\x00\x00\x00Disallow: /'],
  ])('%s in place of rules allows all', (_, file) => {
    expect(allows(file, '/')).toBe(true)
    expect(RobotsTxt.parse(file).sitemaps).toEqual([])
  })

  test('misspellings of Disallow are understood; without a colon only small letters are', () => {
    for (const line of [
      'Dissallow: /',
      'disalow: /',
      'Diasllow: /',
      'disallaw: /',
      'disallow /',
      'disallow\t/',
    ])
      expect([line, allows(everybody(line), '/')]).toEqual([line, false])
    expect(allows(everybody('Disallow /'), '/')).toBe(true)
    expect(allows(everybody('constructor: /', '__proto__: /', 'toString: /'), '/')).toBe(true)
  })

  test('a delay may be written as Python reads numbers', () => {
    const delay = (value: string) => RobotsTxt.parse(everybody(`Crawl-delay: ${value}`)).crawlDelay('a')
    expect(['.5', '5.', '+1.5', '1_000', '٣', '𝟙𝟘', 'infinity'].map(delay)).toEqual([
      0.5,
      5,
      1.5,
      1000,
      3,
      10,
      Infinity,
    ])
    expect(['', 'x', '1 s', '1,5', '0x10', '1__0', '_1', 'nan', `1${'0'.repeat(100)}`].map(delay)).toEqual(
      new Array(9).fill(null),
    )
  })
})

describe('a hostile file', () => {
  const KIB_500 = 512_000
  const path = `/${'a'.repeat(2000)}`
  const fill = (line: string) => everybody(line.repeat(Math.floor((KIB_500 - 20) / line.length)))

  // Each took between 5 and 150 ms where these limits were set; what they guard against took minutes, or did not end.
  test.each([
    ['one pattern of asterisks', fill('*').replace('*\n', '*\nDisallow: /')],
    ['one pattern of a hundred thousand asterisks', fill('a*').replace('*\n', '*\nDisallow: /').concat('b')],
    ['patterns of many asterisks', fill(`Disallow: /${'a*'.repeat(500)}b\n`)],
    ['patterns of long pieces', fill(`Disallow: /*${'a'.repeat(900)}b\n`)],
    ['forty thousand rules', fill('Disallow: /b\n')],
    ['names without end', fill('User-agent: a\n').concat('Disallow: /b')],
    ['as many names as delays', `${'User-agent: *\n'.repeat(15_000)}${'Crawl-delay: 1\n'.repeat(15_000)}`],
    ['groups of one name', fill('User-agent: *\nDisallow: /b\n')],
    ['blanks', fill(' ').concat('x')],
    ['blank lines', fill('\n')],
    ['colons', fill(':')],
    ['escapes', fill('%2').replace('*\n', '*\nDisallow: /')],
    ['a delay of digits', everybody(`Crawl-delay: ${'1_'.repeat(200_000)}`)],
  ])('%s costs little time', (_, file) => {
    const startedAt = cpuMs()
    const robots = RobotsTxt.parse(file)
    for (let times = 0; times < 5; times++) expect(robots.canFetch(path, 'a')).toBe(true)
    expect(cpuMs() - startedAt).toBeLessThan(1500)
  })
})
