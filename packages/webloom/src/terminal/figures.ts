/** Numbers as people read them, and the lines of reports that have them. */

// Made once, and not before it is used: it takes 10 ms.
let format: Intl.NumberFormat | undefined

/** `1234567.891` as `1,234,567.891`. */
export function grouped(value: number): string {
  format ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 })
  return format.format(value)
}

/** `1 item`, `1,200 items`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`
}

const BYTE_UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** `1536` as `1.5 KiB`. */
export function byteSize(bytes: number): string {
  if (Math.abs(bytes) < 1024) return `${grouped(bytes)} B`
  let [size, unit] = [bytes / 1024, 0]
  while (Math.abs(size) >= 1023.95 && unit < BYTE_UNITS.length - 1) {
    size /= 1024
    unit++
  }
  return `${size.toFixed(1)} ${BYTE_UNITS[unit]}`
}

/** `3725000` as `1:02:05`, below an hour as `02:05`. */
export function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const tail = [minutes, seconds % 60].map((part) => `${part}`.padStart(2, '0')).join(':')
  return hours > 0 ? `${hours}:${tail}` : tail
}

/** `3725.4` as `1 h 2 min 5 s`, below a minute as `5.4 s`. */
export function durationInWords(seconds: number): string {
  if (seconds < 60) return `${grouped(Math.round(seconds * 10) / 10)} s`
  const whole = Math.round(seconds)
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ] as const
  return parts.flatMap(([value, unit]) => (value > 0 ? `${value} ${unit}` : [])).join(' ')
}

/** Returns a span in words, to a millisecond below a second: a delay of 150 ms would be shown as 0.2 s. */
export function delayInWords(ms: number): string {
  return ms > 0 && ms < 1000 ? `${Math.round(ms)} ms` : durationInWords(Math.max(0, ms) / 1000)
}

/** A moment in ISO form as `2026-11-27 06:00:05 UTC`. */
export function secondShown(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`
}

/** Returns how much more or less a number is than before, `+2 %`; `new` where there was none. */
export function changeOf(now: number, before: number): string {
  if (now === before) return '±0 %'
  if (before === 0) return 'new'
  const percent = (100 * (now - before)) / before
  const shown = Math.abs(percent) < 10 ? Math.round(percent * 10) / 10 : Math.round(percent)
  return `${percent > 0 ? '+' : '−'}${grouped(Math.abs(shown))} %`
}

/** Returns what share of the items have a field, `98.5 %`; `–` where there are no items. */
export function coverageOf(have: number, items: number): string {
  return items === 0 ? '–' : `${((100 * have) / items).toFixed(1)} %`
}

/** A line of a report: its name, and what there is to say of that. */
export function row(name: string, text: string): string {
  return `  ${name.padEnd(10)}${text}`
}
