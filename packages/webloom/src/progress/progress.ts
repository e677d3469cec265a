/** The live block of a crawl on a terminal. Elsewhere it does nothing; LogStats writes lines there. */

import type { CrawlSnapshot } from '../assembly/crawl.ts'
import { colorWanted, type Paint, painter } from '../terminal/color.ts'
import { duration, grouped } from '../terminal/figures.ts'
import { visible } from '../terminal/sanitize.ts'
import { processScreen, type Screen } from '../terminal/screen.ts'

/** A display that goes on until it is stopped. */
export interface Progress {
  stop(): void
}

/** Shows how a crawl goes on standard error, when that is a terminal, until it is stopped. */
export function startProgress(crawl: {
  readonly spider: { readonly name: string }
  snapshot(): CrawlSnapshot | Promise<CrawlSnapshot>
}): Progress {
  const read = () => crawl.snapshot()
  const block = new ProgressBlock({ screen: processScreen(), spider: crawl.spider.name, read })
  block.start()
  return { stop: () => block.stop() }
}

export interface ProgressBlockOptions {
  /** The Screen that the logger writes to as well. */
  readonly screen: Screen
  readonly spider: string
  /** Asked up to four times a second. */
  readonly read: () => CrawlSnapshot | Promise<CrawlSnapshot>
  readonly color?: boolean
}

// Four times a second looks alive and costs nothing.
const REDRAW_INTERVAL_MS = 250
// The rate that is shown is that of the last five seconds: short enough to see a change, long enough to be read.
const RATE_WINDOW_MS = 5_000

export class ProgressBlock {
  readonly #screen: Screen
  readonly #spider: string
  readonly #read: ProgressBlockOptions['read']
  readonly #paint: Paint
  readonly #rate = new PageRate()
  #timer: NodeJS.Timeout | undefined
  #isReading = false

  constructor({ screen, spider, read, color }: ProgressBlockOptions) {
    this.#screen = screen
    this.#spider = spider
    this.#read = read
    this.#paint = painter(color ?? colorWanted(screen.isTty))
  }

  start(): void {
    if (!this.#screen.isTty || this.#timer) return
    this.#timer = setInterval(() => void this.#redraw(), REDRAW_INTERVAL_MS).unref()
    void this.#redraw()
  }

  /** Takes the block away; the final stats come in its place. */
  stop(): void {
    if (!this.#timer) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#screen.hide()
  }

  async #redraw(): Promise<void> {
    // A queue that is slow to count is asked again only when it has answered.
    if (this.#isReading) return
    this.#isReading = true
    try {
      const snapshot = await this.#read()
      if (this.#timer) this.#show(snapshot)
    } catch (error) {
      // A crawl does not end for its display.
      this.stop()
      this.#screen.write(`The progress display has stopped: ${visible(String(error))}\n`)
    } finally {
      this.#isReading = false
    }
  }

  #show(snapshot: CrawlSnapshot): void {
    const speed = this.#rate.at(performance.now(), snapshot.done)
    const lines = progressLines(this.#spider, snapshot, speed, this.#screen.columns, this.#paint)
    this.#screen.show(lines.join('\n'))
  }
}

/** How fast it goes. */
export interface CrawlSpeed {
  readonly elapsedMs: number
  /** Pages per second over the last seconds. */
  readonly now: number
  /** Pages per second since the start. */
  readonly mean: number
}

/** Remembers when how many pages were done. The first call is the start. */
export class PageRate {
  readonly #samples: Sample[] = []
  #start: Sample | undefined

  at(time: number, done: number): CrawlSpeed {
    const present = { time, done }
    this.#start ??= present
    this.#samples.push(present)
    // The oldest one kept is the last at or before the window, so that the window is always full.
    while (this.#samples.length > 2 && this.#samples[1]!.time <= time - RATE_WINDOW_MS) this.#samples.shift()
    return {
      elapsedMs: time - this.#start.time,
      now: perSecond(this.#samples[0]!, present),
      mean: perSecond(this.#start, present),
    }
  }
}

interface Sample {
  readonly time: number
  readonly done: number
}

function perSecond(from: Sample, to: Sample): number {
  return to.time > from.time ? ((to.done - from.done) * 1000) / (to.time - from.time) : 0
}

/** The block's lines, each shorter than `columns`. */
export function progressLines(
  spider: string,
  snapshot: CrawlSnapshot,
  speed: CrawlSpeed,
  columns: number,
  paint: Paint,
): string[] {
  const { done, queued, downloading, scraping, items, errors, retries, filtered } = snapshot
  const count = (name: string, value: number): Part => ({ text: `${name} ${grouped(value)}` })
  const parts: Part[][] = [
    [
      { text: visible(spider), style: 'bold' },
      { text: duration(speed.elapsedMs) },
      { text: `${rate(speed.now)} pages/s`, style: 'green' },
      { text: `mean ${rate(speed.mean)}` },
    ],
    [
      count('done', done),
      count('queued', queued),
      count('downloading', downloading),
      count('scraping', scraping),
    ],
    [
      count('items', items),
      errors > 0 ? { ...count('errors', errors), style: 'red' } : count('errors', errors),
      count('retries', retries),
      count('filtered', filtered),
    ],
  ]
  return parts.flatMap((line) => fitted(line, columns, paint))
}

interface Part {
  readonly text: string
  readonly style?: Parameters<Paint>[0]
}

const SEPARATOR = ' · '

/** One line, or several when it is too wide. */
function fitted(parts: readonly Part[], columns: number, paint: Paint): string[] {
  // A line as wide as the terminal would wrap in some of them.
  const widthMax = Math.max(1, columns - 1)
  const lines: { width: number; text: string }[] = []
  for (const { text, style } of parts) {
    const cut = text.length > widthMax ? `${text.slice(0, widthMax - 1)}…` : text
    const painted = style ? paint(style, cut) : cut
    const line = lines.at(-1)
    if (line && line.width + SEPARATOR.length + cut.length <= widthMax) {
      line.text += `${paint('dim', SEPARATOR)}${painted}`
      line.width += SEPARATOR.length + cut.length
    } else lines.push({ width: cut.length, text: painted })
  }
  return lines.map(({ text }) => text)
}

function rate(pagesPerSecond: number): string {
  return pagesPerSecond >= 100 ? grouped(Math.round(pagesPerSecond)) : pagesPerSecond.toFixed(1)
}
