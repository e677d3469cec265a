import { expect, test } from 'vitest'
import { encoderFor } from './charset-encode.ts'

// Bytes as Python's codec of that name writes them; null where it raises UnicodeEncodeError.
test.each([
  ['latin-1', 'é', 'e9'],
  ['latin-1', '€', null],
  ['windows-1252', '€', '80'],
  ['windows-1252', '\x81', null],
  ['iso-8859-16', 'ț', 'fe'],
  ['iso-8859-15', '€', 'a4'],
  ['iso-8859-9', '\x85', '85'],
  ['ascii', 'é', null],
  ['cp1251', 'Я', 'df'],
  ['koi8-r', 'Я', 'f1'],
  ['koi8_u', '╬', 'be'],
  ['gbk', '中文', 'd6d0cec4'],
  ['gbk', '€', null],
  ['gb2312', '中', 'd6d0'],
  ['gb2312', '镕', null],
  ['gb18030', '€', 'a2e3'],
  ['gb18030', '😀', '9439fc36'],
  ['gb18030', 'ä', '81308a31'],
  ['big5', '中文', 'a4a4a4e5'],
  ['big5', '十', 'a451'],
  ['big5', '嘅', null],
  ['big5', 'Æ', null],
  ['cp950', 'ø', null],
  ['big5hkscs', '嘅咗㗎', '9def9df79dee'],
  ['big5-hkscs', '中À十═箸', 'a4a48859a451f9f9bae6'],
  ['big5hkscs', 'Ê̄Êê̌', '8862886688a5'],
  ['big5hkscs', '€', null],
  ['shift_jis', 'サ〜¥', '835481605c'],
  ['shift_jis', '①', null],
  ['cp932', '①', '8740'],
  ['euc-jp', '日本〜', 'c6fccbdca1c1'],
  ['euc-jp', '丂', '8fb0a1'],
  ['iso-2022-jp', 'a日b', '611b2442467c1b284262'],
  ['euc-kr', '한', 'c7d1'],
  ['euc-kr', '갂', 'a4d4a4a1a4bfa4a2'],
  ['cp949', '갂', '8141'],
  ['cp949', '힝', 'c8fe'],
  ['cp949', '힣', 'c652'],
  ['utf-16', 'a', 'fffe6100'],
  ['utf-16-be', 'a', '0061'],
])('%s writes %s as %s', (encoding, text, hex) => {
  const bytes = encoderFor(encoding)?.(text)
  expect(bytes === undefined ? null : Buffer.from(bytes, 'latin1').toString('hex')).toBe(hex)
})

test('spellings of Python and of the web are understood', () => {
  const names = [
    'UTF8',
    'Latin1',
    'ISO_8859-1',
    'iso8859-2',
    'Shift-JIS',
    'sjis',
    'EUC_JP',
    'x-gbk',
    'cp874',
    'mac_roman',
  ]
  for (const name of names) expect(encoderFor(name)?.('a'), name).toBe('a')
})

test('an unknown encoding is undefined, not a guess', () => {
  expect(encoderFor('klingon')).toBeUndefined()
  expect(encoderFor('')).toBeUndefined()
  expect(encoderFor('constructor')).toBeUndefined()
})

test.each([
  ['latin-1', 'iso8859_1'],
  ['LATIN1', 'l1'],
  ['utf_8', 'U8'],
  ['euc_jp', 'u-jis'],
  ['win-1251', 'windows_1251'],
  ['1251', 'cp1251'],
  ['shift_jis', 's_jis'],
  ['iso_8859_15', 'latin9'],
  ['tis620', 'tis_620_2529_1'],
  ['ks_c_5601_1987', 'euckr'],
])('Python’s names %s and %s are of one encoding', (one, other) => {
  const text = { latin: 'é', cyrillic: 'Я', east: 'あ', thai: 'ก', korean: '가' }
  for (const sign of Object.values(text)) expect(encoderFor(one)?.(sign)).toBe(encoderFor(other)?.(sign))
  expect(Object.values(text).some((sign) => encoderFor(one)?.(sign) !== undefined)).toBe(true)
})

test.each([
  ['big5', 'あ', 'c6a6'],
  ['big5', 'Ё', 'c7b3'],
  ['gb18030', 'ḿ', '8135f437'],
  ['tis-620', '\x85', '85'],
])('%s writes %s as Python’s codec does', (encoding, text, hex) => {
  expect(Buffer.from(encoderFor(encoding)!(text)!, 'latin1').toString('hex')).toBe(hex)
})
