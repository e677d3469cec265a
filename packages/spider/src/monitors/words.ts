/** Figures as the sentences of alerts have them. */

const NUMBERS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })

export function grouped(count: number): string {
  return NUMBERS.format(count)
}

export function rounded(minutes: number): string {
  return grouped(Math.round(minutes * 10) / 10)
}

export function percent(share: number): string {
  return `${grouped(share * 100)} %`
}
