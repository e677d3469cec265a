/** Numbers and times as the pages show them. */

// A page has hundreds of figures and is made once a second: to make a format for each takes a fifth of that.
const FORMATS = [0, 1, 2, 3].map(
  (digits) => new Intl.NumberFormat('en-US', { maximumFractionDigits: digits }),
)

/** `1234567.891` as `1,234,567.9`. */
export function grouped(value: number, digits: 0 | 1 | 2 | 3 = 1): string {
  return FORMATS[digits]!.format(value)
}

const ROUNDED = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 2 })

/** `3125000` as `3.1M`. */
export function rounded(value: number): string {
  return ROUNDED.format(value)
}

/** `1 item`, `1,200 items`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`
}

/** A rate a minute as one a second, with the digits that tell something. */
export function perSecond(perMinute: number): string {
  const rate = perMinute / 60
  return grouped(rate, rate >= 100 ? 0 : rate >= 1 ? 1 : 2)
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** `1536` as `1.5 KiB`. */
export function byteSize(bytes: number): string {
  const unit = bytes < 1024 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${grouped(bytes / 1024 ** unit, unit === 0 ? 0 : 1)} ${BYTE_UNITS[unit]}`
}

export function percent(share: number, digits: 0 | 1 | 2 | 3 = 0): string {
  return `${grouped(100 * share, digits)} %`
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const

/** The two largest units: `3 h 12 min`, `4 s`, `250 ms`. */
export function durationOf(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 10_000) return `${grouped(ms / 1000)} s`
  const first = UNITS.findIndex(([unit]) => ms >= unit)
  const [large, name] = UNITS[first]!
  const rest = UNITS[first + 1]
  const more = rest ? Math.floor((ms % large) / rest[0]) : 0
  return `${Math.floor(ms / large)} ${name}${rest && more > 0 ? ` ${more} ${rest[1]}` : ''}`
}

/** `2026-11-25T16:00:00.000Z` as `2026-11-25 16:00:00`. */
export function moment(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ')
}

/** Returns how long before `now` a moment was. */
export function ago(iso: string, now: string): string {
  return `${durationOf(Math.max(0, Date.parse(now) - Date.parse(iso)))} ago`
}
