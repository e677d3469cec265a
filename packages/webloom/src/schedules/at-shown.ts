import { durationInWords } from '../terminal/figures.ts'

/** Returns it by the clock of its time zone, and how far away that is. */
export function atShown(at: Date, tz: string, now = Date.now()): string {
  const clock = `${at.toLocaleString('sv-SE', { timeZone: tz })} ${tz}`
  const seconds = Math.round((at.getTime() - now) / 1000)
  // Rounding makes −0 of what is nearly over.
  if (seconds === 0) return `${clock} (now)`
  return `${clock} (${seconds > 0 ? `in ${durationInWords(seconds)}` : `${durationInWords(-seconds)} ago`})`
}
