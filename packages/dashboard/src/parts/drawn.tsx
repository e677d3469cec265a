/** Pictures of figures, drawn on the server, so that they are there without a script. */

const WIDTH = 600

/** A curve with its area; nothing for fewer than two values. */
export function Sparkline({
  values,
  height = 40,
  label,
}: {
  values: readonly number[]
  height?: number
  label: string
}) {
  if (values.length < 2) return null
  const most = Math.max(...values, 1e-9)
  const at = (n: number) => ((n / (values.length - 1)) * WIDTH).toFixed(1)
  const up = (value: number) => (height - 2 - (value / most) * (height - 4)).toFixed(1)
  const line = values.map((value, n) => `${at(n)},${up(value)}`).join(' ')
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polygon points={`0,${height} ${line} ${WIDTH},${height}`} />
      <polyline points={line} />
    </svg>
  )
}

export interface Part {
  readonly name: string
  readonly value: number
  /** Its figure in words. */
  readonly shown: string
}

/** Parts of a whole as one bar, and its legend with their figures. */
export function StackedBar({ parts, label }: { parts: readonly Part[]; label: string }) {
  const whole = parts.reduce((sum, { value }) => sum + value, 0)
  let from = 0
  const spans = parts.map(({ value }, n) => {
    const width = whole > 0 ? (value / whole) * WIDTH : 0
    const x = from
    from += width
    return <rect class={`part${n}`} x={x.toFixed(1)} y="0" width={width.toFixed(1)} height="12" />
  })
  return (
    <figure class="stacked">
      <svg viewBox={`0 0 ${WIDTH} 12`} preserveAspectRatio="none" role="img" aria-label={label}>
        <rect class="ground" x="0" y="0" width={WIDTH} height="12" />
        {spans}
      </svg>
      <figcaption>
        <ul>
          {parts.map(({ name, shown }, n) => (
            <li>
              <span class={`key part${n}`} aria-hidden="true" />
              <span class="name">{name}</span> <b>{shown}</b>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  )
}

/** A share of 1. */
export function Meter({ share, label }: { share: number; label: string }) {
  const width = Math.max(0, Math.min(1, share)) * 100
  const tone = share > 0.9 ? 'bad' : share > 0.75 ? 'warn' : 'good'
  return (
    <svg class={`meter ${tone}`} viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="ground" width="100" height="6" />
      <rect class="fill" width={width.toFixed(1)} height="6" />
    </svg>
  )
}
