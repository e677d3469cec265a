/**
 * A chart as plain SVG: x is logarithmic, y begins at 0. It is light or dark as the reader's system is, and lines
 * differ in their dashes as well, for those who tell colours apart badly.
 */

export interface Line {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface Chart {
  readonly title: string
  /** What the axes show, with units. */
  readonly xLabel: string
  readonly yLabel: string
  readonly lines: readonly Line[]
}

const [WIDTH, HEIGHT] = [760, 400]
const PLOT = { left: 76, right: 590, top: 48, bottom: 340 }
const LABEL_HEIGHT = 16
const DASHES = ['', '7 4', '2 4', '10 4 2 4']
const Y_STEPS_MIN = 4

const STYLE = `
    rect { fill: #ffffff }
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .title { font-weight: 600 }
    path { fill: none; stroke: #d1d9e0 }
    g path { stroke: currentColor; stroke-width: 2 }
    g circle, g text { fill: currentColor }
    .line0 { color: #0969da } .line1 { color: #bc4c00 } .line2 { color: #1a7f37 } .line3 { color: #8250df }
    @media (prefers-color-scheme: dark) {
      rect { fill: #0d1117 }
      text { fill: #f0f6fc }
      path { stroke: #3d444d }
      .line0 { color: #4493f8 } .line1 { color: #f0883e } .line2 { color: #3fb950 } .line3 { color: #ab7df8 }
    }`

type Scale = (value: number) => number

export function lineChart({ title, xLabel, yLabel, lines }: Chart): string {
  const xs = [...new Set(lines.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b)
  const ySteps = stepsTo(Math.max(...lines.flatMap(({ points }) => points.map(([, value]) => value))))
  const logX = between(Math.log(xs[0]!), Math.log(xs.at(-1)!), PLOT.left, PLOT.right)
  const toX = (value: number) => logX(Math.log(value))
  const toY = between(0, ySteps.at(-1)!, PLOT.bottom, PLOT.top)
  const placed = lines.map(({ name, points }) => ({
    name,
    points: points.map(([at, value]) => [toX(at), toY(value)] as const),
  }))
  const labelTops = labelTopsOf(placed.map(({ points }) => points.at(-1)![1]))
  const middle = `translate(18 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)`
  const elements = [
    `<style>${STYLE}\n  </style>`,
    `<rect width="${WIDTH}" height="${HEIGHT}"/>`,
    text(PLOT.left, 24, title, 'class="title"'),
    text((PLOT.left + PLOT.right) / 2, HEIGHT - 12, xLabel, 'text-anchor="middle"'),
    text(0, 0, yLabel, `text-anchor="middle" transform="${middle}"`),
    ...ySteps.flatMap((value) => yStep(value, toY)),
    ...xs.flatMap((value) => xStep(value, toX)),
    ...placed.map((line, n) => drawnLine(line, n, labelTops[n]!)),
  ]
  const frame = `viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${frame}>\n  ${elements.join('\n  ')}\n</svg>\n`
}

function yStep(value: number, toY: Scale): string[] {
  return [
    `<path d="M${PLOT.left} ${px(toY(value))}H${PLOT.right}"/>`,
    text(PLOT.left - 8, toY(value) + 4, shown(value), 'text-anchor="end"'),
  ]
}

function xStep(value: number, toX: Scale): string[] {
  return [
    `<path d="M${px(toX(value))} ${PLOT.bottom}v5"/>`,
    text(toX(value), PLOT.bottom + 22, shown(value), 'text-anchor="middle"'),
  ]
}

function drawnLine({ name, points }: Line, n: number, labelTop: number): string {
  const way = points.map(([x, y]) => `${px(x)} ${px(y)}`).join('L')
  const dots = points.map(([x, y]) => `<circle cx="${px(x)}" cy="${px(y)}" r="3.5"/>`).join('')
  const label = text(PLOT.right + 12, labelTop + 4, name)
  return `<g class="line${n}"><path stroke-dasharray="${DASHES[n]}" d="M${way}"/>${dots}${label}</g>`
}

/** Where each line's name goes: at its end, or below the one that is there. */
function labelTopsOf(ends: readonly number[]): number[] {
  const tops: number[] = []
  let free = 0
  for (const n of ends.map((_, index) => index).sort((a, b) => ends[a]! - ends[b]!)) {
    tops[n] = Math.max(ends[n]!, free)
    free = tops[n]! + LABEL_HEIGHT
  }
  return tops
}

/** 0 and round numbers up to the first that is not below `most`. */
function stepsTo(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most))
  const step = [2, 1, 0.5, 0.25, 0.2].map((part) => part * power).find((one) => most / one >= Y_STEPS_MIN)!
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, n) => n * step)
}

function between(from: number, to: number, low: number, high: number): Scale {
  return (value) => low + ((value - from) / (to - from)) * (high - low)
}

function text(x: number, y: number, words: string, attributes = ''): string {
  return `<text x="${px(x)}" y="${px(y)}" ${attributes}>${escaped(words)}</text>`
}

function shown(value: number): string {
  return value.toLocaleString('en-US').replaceAll(',', ' ')
}

function px(value: number): string {
  return value.toFixed(1)
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
