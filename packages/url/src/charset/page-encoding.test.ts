import { expect, test } from 'vitest'
import { detectEncoding } from './page-encoding.ts'

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
