/** Numbers of settings have no unit behind them; `24h` and `10MB` are what people write all the same. */

const SECONDS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
const BYTES = { b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 }

/** Spellings of units, by their first letters. */
const TIME_WORDS: readonly (readonly [RegExp, keyof typeof SECONDS])[] = [
  [/^(ms|millis(econds?)?|milliseconds?)$/, 'ms'],
  [/^s(ec(ond)?s?)?$/, 's'],
  [/^m(in(ute)?s?)?$/, 'm'],
  [/^h(rs?|ours?)?$/, 'h'],
  [/^d(ays?)?$/, 'd'],
  [/^w(eeks?)?$/, 'w'],
]
const SIZE_WORD = /^([kmgt])?(i?b|bytes?)?$/

/** What one of a setting's unit is: in seconds, or in bytes. */
const UNITS: Readonly<
  Record<string, { readonly name: string; readonly of: 'time' | 'size'; readonly one: number }>
> = {
  s: { name: 'seconds', of: 'time', one: SECONDS.s },
  hours: { name: 'hours', of: 'time', one: SECONDS.h },
  days: { name: 'days', of: 'time', one: SECONDS.d },
  bytes: { name: 'bytes', of: 'size', one: BYTES.b },
  MiB: { name: 'MiB', of: 'size', one: BYTES.m },
}

/**
 * Returns, as a sentence behind what is expected, which number to write for `24h` or `10MB`; empty for what is none of these.
 *
 * @param fits whether the setting would take that number
 */
export function unitHint(unit: string | undefined, raw: unknown, fits: (number: number) => boolean): string {
  if (typeof raw !== 'string' || unit === undefined) return ''
  const known = UNITS[unit]
  const [, count, word] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/i.exec(raw) ?? []
  if (!known || count === undefined || word === undefined) return ''
  const each = known.of === 'time' ? secondsOf(word.toLowerCase()) : bytesOf(word.toLowerCase())
  if (each === undefined) return ''
  // Twelve digits: 0.1 * 3600 and the like leave crumbs.
  const number = Number(((Number(count) * each) / known.one).toPrecision(12))
  return fits(number) ? `. It is in ${known.name}: for ${raw.trim()} write ${number}` : ''
}

function secondsOf(word: string): number | undefined {
  const found = TIME_WORDS.find(([spelling]) => spelling.test(word))
  return found && SECONDS[found[1]]
}

function bytesOf(word: string): number | undefined {
  const found = SIZE_WORD.exec(word)
  return found ? BYTES[(found[1] ?? 'b') as keyof typeof BYTES] : undefined
}
