/** Where Python's codecs differ from the decoders of the web: the tables of `charset-encode.ts`. */

import { isOfBig5Hkscs } from './big5-hkscs.ts'

/** How Python's codec differs from the decoder it is made from. */
export interface Codec {
  /** Name for `TextDecoder`; the codec's own name when absent. */
  readonly decoder?: string
  /** False for a pair of bytes that the codec does not write. */
  readonly writes?: (bytes: number, codePoint: number) => boolean
  /** What the codec writes and the decoder does not read back: the character, and its bytes in hex. */
  readonly also?: Readonly<Record<string, string>>
}

// Signs that Unicode has twice: the decoder reads one form, the codec writes the other.
const JIS_OTHERWISE = /[\uffe0\uffe1\uffe2\u2225\uff0d\uff5e]/
const BIG5_OTHERWISE = /[\u00af\u2027\u20ac\u2215\u2295\u2299\ufe51\ufe68\uff5e\uffe0\uffe1\uffe5]/
// Two ideographs stand in Big5 twice, too.
const BIG5_TWICE = { 十: 'a451', 卅: 'a4ca' }
// Kana, Cyrillic and numbers as Unicode's first table had them; later ones, and the web, have them further down.
const BIG5_FIRST_TABLE = cellsFrom(
  0xc6a1,
  `ヾゝゞ々${charsBetween('ぁ', 'ん')}${charsBetween('ァ', 'ヶ')}ДЕЁ${charsBetween('Ж', 'М')}${charsBetween('У', 'Я')}` +
    `${charsBetween('а', 'е')}ё${charsBetween('ж', 'я')}${charsBetween('①', '⑩')}${charsBetween('⑴', '⑽')}`,
)
const BIG5_ALIKE = { '•': 'a145', '､': 'a14e', '‾': 'a1c2', '∼': 'a1e3', '♁': 'a1f2', '☉': 'a1f3' }
const CP950_SIGNS = {
  ...BIG5_TWICE,
  ...BIG5_FIRST_TABLE,
  ...BIG5_ALIKE,
  '¢': 'a246',
  '£': 'a247',
  '¥': 'a244',
}
const BIG5_SIGNS = { ...CP950_SIGNS, '／': 'a241', '＼': 'a242' }

// Signs that HKSCS has twice: the codec writes those that it had first, or that stand with their like.
const BIG5HKSCS_SIGNS = {
  ...BIG5_TWICE,
  ...BIG5_ALIKE,
  ...{ '¢': 'a246', '£': 'a247', '¥': 'a244', '／': 'a241', '＼': 'a242' },
  ...{
    '═': 'f9f9',
    '╞': 'f9e9',
    '╡': 'f9eb',
    '╪': 'f9ea',
    '╭': 'f9fa',
    '╮': 'f9fb',
    '╯': 'f9fd',
    '╰': 'f9fc',
  },
  ...{
    廴: 'fbfd',
    惞: 'fd64',
    无: 'fcd3',
    瀞: '96ee',
    癶: 'fec1',
    覩: 'a0d4',
    銹: 'f9d7',
    鍮: 'a05f',
    靝: '9ce4',
  },
  // A letter with its accent.
  ...{ '\u00ca\u0304': '8862', '\u00ca\u030c': '8864', '\u00ea\u0304': '88a3', '\u00ea\u030c': '88a5' },
}
/** What big5hkscs writes as one: a letter with its accent, or a character. */
export const BIG5HKSCS_PIECES = /[\u00ca\u00ea][\u0304\u030c]|[\s\S]/gu

/** What the standard has moved since its first edition, which the codec follows: the bytes, and what they and their new sign were. */
const GB18030_MOVED: readonly [bytes: number, sign: number, privateUse: number, signWas: string][] = [
  ...[0xa6d9, 0xa6db, 0xa6da, 0xa6dc, 0xa6dd, 0xa6de, 0xa6df, 0xa6ec, 0xa6ed, 0xa6f3].map(
    (bytes, n): [number, number, number, string] => [
      bytes,
      0xfe10 + n,
      bytes < 0xa6e0 ? 0xe78d + bytes - 0xa6d9 : bytes < 0xa6f3 ? 0xe794 + bytes - 0xa6ec : 0xe796,
      n < 4 ? `8431823${6 + n}` : `8431833${n - 4}`,
    ],
  ),
  [0xa8bc, 0x1e3f, 0xe7c7, '8135f437'],
  ...[0xfe59, 0xfe61, 0xfe66, 0xfe67, 0xfe6d, 0xfe7e, 0xfe90, 0xfea0].map(
    (bytes, n): [number, number, number, string] => [
      bytes,
      0x9fb4 + n,
      [0xe81e, 0xe826, 0xe82b, 0xe82c, 0xe832, 0xe843, 0xe854, 0xe864][n]!,
      n < 3 ? `8235903${7 + n}` : `8235913${n - 3}`,
    ],
  ),
]
const GB18030_SINCE_2005 = new Set(GB18030_MOVED.map(([bytes]) => bytes))
const GB18030_OF_2000 = Object.fromEntries(
  GB18030_MOVED.flatMap(([bytes, sign, privateUse, signWas]) => [
    [String.fromCharCode(sign), signWas],
    [String.fromCharCode(privateUse), bytes.toString(16)],
  ]),
)

/** By the codec's name; none where the decoder says it all. */
export const CODECS: ReadonlyMap<string, Codec> = new Map<string, Codec>(
  Object.entries({
    'koi8-u': {
      writes: (_bytes, codePoint) => codePoint !== 0x40e && codePoint !== 0x45e,
      also: { '╝': 'ae', '╬': 'be' },
    },
    gbk: {
      writes: (bytes, codePoint) =>
        bytes > 0xff && bytes < 0xfe50 && !isPrivateUse(codePoint) && !isLateGbk(bytes),
    },
    gb2312: { decoder: 'gbk', writes: isGb2312, also: { '・': 'a1a4', '―': 'a1aa' } },
    gb18030: {
      writes: (bytes) => bytes !== 0x80 && !GB18030_SINCE_2005.has(bytes),
      also: { '\ufffd': '8431a437', '\ue5e5': 'a3a0', ...GB18030_OF_2000 },
    },
    'tis-620': { decoder: 'iso-8859-11', writes: (bytes) => bytes > 0xa0 },
    big5: {
      writes: (bytes, codePoint) =>
        bytes > 0xa100 &&
        bytes < 0xf9d6 &&
        !isPrivateUse(codePoint) &&
        !BIG5_OTHERWISE.test(charOf(codePoint)),
      also: BIG5_SIGNS,
    },
    big5hkscs: {
      decoder: 'big5hkscs',
      writes: (pair, codePoint) => isOfBig5Hkscs(pair) && !BIG5_OTHERWISE.test(charOf(codePoint)),
      also: BIG5HKSCS_SIGNS,
    },
    cp950: {
      decoder: 'big5',
      writes: (bytes, codePoint) => bytes > 0xa100 && !isPrivateUse(codePoint),
      also: CP950_SIGNS,
    },
    'shift-jis': {
      decoder: 'shift_jis',
      writes: (bytes, codePoint) =>
        (bytes < 0x8740 || (bytes >= 0x889f && bytes < 0xed40)) && !JIS_OTHERWISE.test(charOf(codePoint)),
      also: {
        '¢': '8191',
        '£': '8192',
        '¬': '81ca',
        '‖': '8161',
        '−': '817c',
        '〜': '8160',
        '¥': '5c',
        '‾': '7e',
      },
    },
    cp932: {
      decoder: 'shift_jis',
      also: { '¢': '8191', '£': '8192', '¬': '81ca', '‖': '8161', '−': '817c', '〜': '8160' },
    },
    'euc-jp': {
      writes: (bytes, codePoint) => isJisOfEuc(bytes) && !JIS_OTHERWISE.test(charOf(codePoint)),
      also: {
        '¢': 'a1f1',
        '£': 'a1f2',
        '¬': 'a2cc',
        '‖': 'a1c2',
        '−': 'a1dd',
        '〜': 'a1c1',
        '¥': '5c',
        '‾': '7e',
      },
    },
    'euc-kr': { writes: isKsX1001, also: { '®': 'a2e7', '€': 'a2e6' } },
    cp949: { decoder: 'euc-kr', writes: isKsX1001, also: { '®': 'a2e7', '€': 'a2e6' } },
  } satisfies Record<string, Codec>),
)

function charsBetween(first: string, last: string): string {
  const from = first.charCodeAt(0)
  return String.fromCharCode(...Array.from({ length: last.charCodeAt(0) - from + 1 }, (_, n) => from + n))
}

/** Each character with its bytes in hex, in the order of Big5's cells. */
function cellsFrom(first: number, chars: string): Record<string, string> {
  const cells: Record<string, string> = {}
  let cell = first
  for (const char of chars) {
    cells[char] = cell.toString(16)
    const trail = cell & 0xff
    cell += trail === 0x7e ? 0xa1 - 0x7e : trail === 0xfe ? 0x100 - 0xfe + 0x40 : 1
  }
  return cells
}

// Signs that came into GBK's rows after Python's table was made.
function isLateGbk(bytes: number): boolean {
  if ((bytes >= 0xa989 && bytes <= 0xa995) || (bytes >= 0xa6d9 && bytes <= 0xa6df)) return true
  return (
    bytes === 0xa6ec ||
    bytes === 0xa6ed ||
    bytes === 0xa6f3 ||
    bytes === 0xa8bc ||
    bytes === 0xa8bf ||
    bytes === 0xa2e3
  )
}

function isGb2312(bytes: number, codePoint: number): boolean {
  const row = bytes >> 8
  if (row < 0xa1 || row > 0xf7 || (bytes & 0xff) < 0xa1 || isPrivateUse(codePoint)) return false
  // Filled by GBK: small Roman numerals, the euro, vertical punctuation, further Pinyin letters.
  if ((bytes >= 0xa2a1 && bytes <= 0xa2b0) || bytes === 0xa2e3) return false
  if ((bytes >= 0xa6d9 && bytes <= 0xa6f5) || (bytes >= 0xa8bb && bytes <= 0xa8c0)) return false
  return codePoint !== 0xb7 && codePoint !== 0x2014
}

/** JIS X 0208, JIS X 0212 or a half-width kana: not the vendors' rows that the web reads too. */
function isJisOfEuc(bytes: number): boolean {
  if (bytes > 0xffff) return bytes < 0x8ff300
  return bytes > 0xff && bytes >> 8 !== 0xad && bytes < 0xf500
}

function isKsX1001(bytes: number, codePoint: number): boolean {
  return bytes >> 8 >= 0xa1 && (bytes & 0xff) >= 0xa1 && !isPrivateUse(codePoint)
}

function isPrivateUse(codePoint: number): boolean {
  return codePoint >= 0xe000 && codePoint <= 0xf8ff
}

function charOf(codePoint: number): string {
  return String.fromCodePoint(codePoint)
}
