import { expect, test } from 'vitest'
import { rulesAlone } from './robots-records.ts'
import { RobotsTxt } from './robots-txt.ts'

test.each([
  ['nothing', ''],
  ['a page', '<html><body>not found</body></html>'],
  ['an empty Disallow', 'User-agent: *\nDisallow:\nSitemap: https://a.example/s.xml'],
  ['Allow alone', 'User-agent: *\nAllow: /\n'],
])('%s forbids nothing', (_, file) => {
  expect(rulesAlone(file)).toBe('')
})

test('files that differ in Sitemap, comments and blanks alone become equal', () => {
  const of = (host: string) =>
    `# of ${host}\r\nUser-Agent:  *\r\nDisallow: /admin/ # no\r\nAllow: /admin/ajax\r\n\r\nSitemap: https://${host}/s.xml\r\n`
  expect(rulesAlone(of('a.example'))).toBe('user-agent:*\ndisallow:/admin/\nallow:/admin/ajax')
  expect(rulesAlone(of('b.example'))).toBe(rulesAlone(of('a.example')))
})

test('what is left says the same as the file, row by row', () => {
  const file =
    'Disallow: /lost\nUser-agent: a\nCrawl-delay: 5\nUser-agent: b\ndisalow /x\n\nUser-agent: c\nDisallow:\nUser-agent: *\nDisallow: /y$\nDisallow: /\xe9'
  const [whole, alone] = [RobotsTxt.parse(file), RobotsTxt.parse(rulesAlone(file))]
  for (const agent of ['a', 'b', 'c', 'd']) {
    expect(alone.crawlDelay(agent)).toBe(whole.crawlDelay(agent))
    for (const path of ['/x', '/y', '/yy', '/lost', '/%E9', '/%C3%A9', '/'])
      expect([agent, path, alone.canFetch(path, agent)]).toEqual([agent, path, whole.canFetch(path, agent)])
  }
})

test('a file that would become longer stays as it is', () => {
  const file = 'User-agent:*\ndisalow:/a\ndisalow:/b'
  expect(rulesAlone(file)).toBe(file)
})
