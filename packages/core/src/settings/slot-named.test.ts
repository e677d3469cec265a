import { expect, test } from 'vitest'
import { slotNamed, slotTyped, slotWarning } from './slot-named.ts'

test.each([
  ['A.example', 'a.example'],
  [' a.example ', 'a.example'],
  ['a.example:8080', 'a.example'],
  ['https://a.example:8080/x', 'a.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['127.0.0.1:7911', '127.0.0.1'],
  ['::1', '[::1]'],
  ['[::1]', '[::1]'],
  ['[::1]:8080', '[::1]'],
  // meta.download_slot may be anything.
  ['shop', 'shop'],
  ['büro', 'büro'],
  ['shops/2', 'shops/2'],
  ['7', '7'],
  ['"shop:80"', 'shop:80'],
  ['"Shop"', 'Shop'],
])('%j is %j', (typed, slot) => {
  expect(slotNamed(typed)).toBe(slot)
})

test.each(['', ' ', 'http://', 'a\nb', 'a\u001b[2J', '\ud800'])('%j is not a name', (typed) => {
  expect(slotNamed(typed)).toBeUndefined()
})

test.each(['a.example', 'shop:80', 'Shop', 'https://a.example/x'])(
  '%j is typed so that it is meant',
  (slot) => {
    expect(slotNamed(slotTyped(slot))).toBe(slot)
  },
)

test('names that hosts do not have are warned of, with the name to write', () => {
  const fine = ['a.test', 'shop', 'Shop', 'shops/2', 'Shops/v1.2', '[::1]', '::1', '127.0.0.1']
  expect(slotWarning(fine)).toBeUndefined()
  const hosts = [
    ['a.test:8080', 'a.test'],
    ['https://a.test/x', 'a.test'],
    ['A.test', 'a.test'],
    ['127.0.0.1:80', '127.0.0.1'],
  ]
  for (const [name, host] of hosts)
    expect(slotWarning([name!])).toContain(`${JSON.stringify(name)} (write "${host}"):`)
  const many = Array.from({ length: 5000 }, (_, n) => `a${n}.test:80`)
  expect(slotWarning(many)).toMatch(/"a4\.test:80" \(write "a4\.test"\), and 4995 more: /)
})

test('what is far too long for a host is read in time that grows with its length', () => {
  for (const text of ['.'.repeat(300_000), 'é'.repeat(300_000)]) expect(slotNamed(text)).toBe(text)
})

test('a name that looks like a pattern of hosts is told, as DOWNLOAD_SLOTS takes none', () => {
  const told = slotWarning(['*.example.com', 'a.test'])
  expect(told).toMatch(
    /^DOWNLOAD_SLOTS names "\*\.example\.com": it takes no patterns\. Name each host; .*POLITENESS_GROUP_BY=domain$/,
  )
  expect(slotWarning(['*.example.com', 'a.test:80'])).toMatch(
    /no patterns.*\. DOWNLOAD_SLOTS names "a\.test:80" \(write/,
  )
  expect(slotWarning(['a*b'])).toBeUndefined()
})
