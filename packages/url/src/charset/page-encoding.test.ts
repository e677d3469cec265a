import { expect, test } from 'vitest'
import { decodeText, detectEncoding, urlEncodingOf } from './page-encoding.ts'

test.each([
  ['latin-1', 'windows-1252'],
  ['utf_8', 'utf-8'],
  ['euc_jp', 'euc-jp'],
  ['win-1251', 'windows-1251'],
  ['cp936', 'gbk'],
  ['mac_roman', 'macintosh'],
])('a page that names its charset as Python does, %s, is read by it', (charset, label) => {
  expect(detectEncoding(Buffer.from('é'), `text/html; charset=${charset}`)).toBe(label)
})

test('a charset that nobody knows counts for nothing', () => {
  expect(detectEncoding(Buffer.from('é'), 'text/html; charset=klingon')).toBe('utf-8')
})

test('a page in Big5 is read with the signs of Hong Kong, and its links are sent with them', () => {
  const body = Buffer.from('a4a49def9df787408859', 'hex')
  for (const charset of ['big5', 'big5-hkscs', 'big5hkscs', 'cp950']) {
    const encoding = detectEncoding(body, `text/html; charset=${charset}`)
    expect(decodeText(body, encoding), charset).toBe('中嘅咗䏰À')
    expect(urlEncodingOf(encoding)).toBe('big5hkscs')
  }
})

test('wrong bytes in Big5 are replaced, and what follows is read', () => {
  expect(decodeText(Buffer.from('a4403ca13e80ff41a4', 'hex'), 'big5')).toBe('一<\ufffd>\ufffd\ufffdA\ufffd')
})

// What the Encoding Standard has at those bytes; Node 22's own decoders have something else, or none of that name.
test.each([
  ['windows-1252', '80819394959f', '€\x81“”•Ÿ'],
  ['iso-8859-1', '93e994', '“é”'],
  ['windows-1253', 'a9aaab', '©\ufffd«'],
  ['windows-1255', 'c9caf9', '\u05b9\u05baש'],
  ['windows-874', 'a1dbfc', 'ก\ufffd\ufffd'],
  ['ibm866', '1a1c7f80', '\x1a\x1c\x7fА'],
  ['koi8-u', 'aebea3', 'ўЎё'],
  ['iso-8859-16', '41a4aafeff', 'A€Șțÿ'],
  ['x-user-defined', '4180ff', 'A\uf780\uf7ff'],
  ['gbk', 'd6d08130813080', '中\x80€'],
  ['euc-kr', 'b6ca8c63c7d1', '똘똠한'],
])('a page in %s is read as browsers read it', (charset, hex, text) => {
  const body = Buffer.from(hex, 'hex')
  const encoding = detectEncoding(body, `text/html; charset=${charset}`)
  expect(decodeText(body, encoding)).toBe(text)
})
