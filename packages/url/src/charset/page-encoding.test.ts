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
