/**
 * What encodings are called. Pages, requests and settings name them by the web's labels or by Python's, and Python knows
 * some three hundred spellings: `latin-1`, `utf_8`, `euc_jp`, `win-1251`.
 */

/**
 * Returns the one name of an encoding under which its encoder is made; a name that is not known comes back tidied up.
 */
export function codecName(encoding: string): string {
  const python = pythonSpelling(encoding)
  const name = (SPELLINGS.get(python) ?? python).replaceAll('_', '-')
  return (
    NAMES.get(name) ??
    name.replace(/^iso-?8859-?(\d+)$/, 'iso-8859-$1').replace(/^cp-?(125\d|874)$/, 'windows-$1')
  )
}

/**
 * Returns the label by which the web's decoders know an encoding that Python names; undefined when Python has no such
 * name.
 */
export function webLabelOf(encoding: string): string | undefined {
  const name = codecName(encoding)
  return WEB_LABELS.get(name) ?? (WEB_LABELED.test(name) ? name : undefined)
}

/** Letters, digits and dots stay, and all between them is one underscore. */
function pythonSpelling(encoding: string): string {
  return encoding
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '_')
    .replace(/^_|_$/g, '')
}

// Python's encodings.aliases, without what the rules above make of a name by themselves.
const SPELLINGS = new Map(
  Object.entries({
    ascii:
      '646 ansi_x3.4_1968 ansi_x3_4_1968 ansi_x3.4_1986 cp367 csascii ibm367 iso646_us iso_646.irv_1991 iso_ir_6 us us_ascii',
    big5: 'big5_tw csbig5 x_mac_trad_chinese',
    big5hkscs: 'big5_hkscs hkscs',
    cp932: '932 ms932 mskanji ms_kanji windows_31j',
    cp949: '949 ms949 uhc windows_949',
    cp950: '950 ms950',
    euc_jp: 'eucjp ujis u_jis',
    euc_kr: 'euckr korean ksc5601 ks_c_5601 ks_c_5601_1987 ksx1001 ks_x_1001 x_mac_korean',
    gb18030: 'gb18030_2000',
    gb2312:
      'chinese csiso58gb231280 euc_cn euccn eucgb2312_cn gb2312_1980 gb2312_80 iso_ir_58 x_mac_simp_chinese',
    gbk: '936 cp936 ms936',
    iso2022_jp: 'csiso2022jp iso2022jp iso_2022_jp',
    iso8859_10: 'csisolatin6 iso_8859_10 iso_8859_10_1992 iso_ir_157 l6 latin6',
    iso8859_11: 'thai iso_8859_11 iso_8859_11_2001',
    iso8859_13: 'iso_8859_13 l7 latin7',
    iso8859_14: 'iso_8859_14 iso_8859_14_1998 iso_celtic iso_ir_199 l8 latin8',
    iso8859_15: 'iso_8859_15 l9 latin9',
    iso8859_16: 'iso_8859_16 iso_8859_16_2001 iso_ir_226 l10 latin10',
    iso8859_2: 'csisolatin2 iso_8859_2 iso_8859_2_1987 iso_ir_101 l2 latin2',
    iso8859_3: 'csisolatin3 iso_8859_3 iso_8859_3_1988 iso_ir_109 l3 latin3',
    iso8859_4: 'csisolatin4 iso_8859_4 iso_8859_4_1988 iso_ir_110 l4 latin4',
    iso8859_5: 'csisolatincyrillic cyrillic iso_8859_5 iso_8859_5_1988 iso_ir_144',
    iso8859_6: 'arabic asmo_708 csisolatinarabic ecma_114 iso_8859_6 iso_8859_6_1987 iso_ir_127',
    iso8859_7: 'csisolatingreek ecma_118 elot_928 greek greek8 iso_8859_7 iso_8859_7_1987 iso_ir_126',
    iso8859_8: 'csisolatinhebrew hebrew iso_8859_8 iso_8859_8_1988 iso_ir_138',
    iso8859_9: 'csisolatin5 iso_8859_9 iso_8859_9_1989 iso_ir_148 l5 latin5',
    koi8_r: 'cskoi8r koi8r',
    latin_1:
      '8859 cp819 csisolatin1 ibm819 iso8859 iso8859_1 iso_8859_1 iso_8859_1_1987 iso_ir_100 l1 latin latin1',
    mac_cyrillic: 'maccyrillic',
    mac_roman: 'macintosh macroman',
    shift_jis: 'csshiftjis shiftjis sjis s_jis x_mac_japanese x_sjis',
    tis_620: 'tis620 tis_620_0 tis_620_2529_0 tis_620_2529_1 iso_ir_166',
    utf_16: 'u16 utf16',
    utf_16_be: 'unicodebigunmarked utf_16be',
    utf_16_le: 'unicodelittleunmarked utf_16le',
    utf_8: 'u8 utf utf8 utf8_ucs2 utf8_ucs4 cp65001',
    // The only one that w3lib knows and Python does not.
    ...Object.fromEntries(
      ['1250', '1251', '1252', '1253', '1254', '1255', '1256', '1257', '1258'].map((page) => [
        `cp${page}`,
        `${page} windows_${page} win_${page} win${page}`,
      ]),
    ),
    cp866: '866 csibm866 ibm866',
  }).flatMap(([codec, spellings]) =>
    spellings.split(' ').map((spelling): [string, string] => [spelling, codec]),
  ),
)

// A codec's name as the encoders are called.
const NAMES = new Map(
  Object.entries({
    'latin-1': 'iso-8859-1',
    'utf-16-le': 'utf-16le',
    'utf-16-be': 'utf-16be',
    'mac-roman': 'macintosh',
    'mac-cyrillic': 'x-mac-cyrillic',
    cp866: 'ibm866',
    'x-gbk': 'gbk',
    'gb-2312': 'gb2312',
    'iso2022-jp': 'iso-2022-jp',
  }),
)

// What the web's decoders call them: they take the wider relative of some, as w3lib does of pages.
const WEB_LABELS = new Map(
  Object.entries({
    ascii: 'windows-1252',
    cp932: 'shift_jis',
    'shift-jis': 'shift_jis',
    cp949: 'euc-kr',
    cp950: 'big5',
    big5hkscs: 'big5',
    gb2312: 'gbk',
    'iso-8859-11': 'windows-874',
    'tis-620': 'windows-874',
    'utf-16': 'utf-16le',
  }),
)
const WEB_LABELED =
  /^(?:utf-8|utf-16[lb]e|iso-8859-\d+|windows-\d+|koi8-[ru]|ibm866|macintosh|x-mac-cyrillic|big5|gbk|gb18030|euc-jp|euc-kr|iso-2022-jp)$/
