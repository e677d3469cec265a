/** The live line of `webloom seed` on a terminal. Elsewhere it does nothing. */

import { colorWanted, type Paint, painter } from '../terminal/color.ts'
import { grouped } from '../terminal/figures.ts'
import { visible } from '../terminal/sanitize.ts'
import type { Screen } from '../terminal/screen.ts'

/** How far it has come. */
export interface SeedProgress {
  readonly pushed: number
  readonly bad: number
  /** Part of the input that was read, 0 to 1; undefined when nobody knows how long it is. */
  readonly read: number | undefined
}

const REDRAW_INTERVAL_MS = 250
const BAR_WIDTH = 24

export class SeedProgressLine {
  readonly #screen: Screen
  readonly #spider: string
  readonly #paint: Paint
  readonly #startedAt = performance.now()
  #shownAt = Number.NEGATIVE_INFINITY

  constructor(screen: Screen, spider: string) {
    this.#screen = screen
    this.#spider = spider
    this.#paint = painter(colorWanted(screen.isTty))
  }

  /** May be called as often as one likes. */
  update(progress: SeedProgress): void {
    const now = performance.now()
    if (!this.#screen.isTty || now - this.#shownAt < REDRAW_INTERVAL_MS) return
    this.#shownAt = now
    const text = seedProgressText(this.#spider, progress, (now - this.#startedAt) / 1000, this.#paint)
    this.#screen.show(text)
  }

  stop(): void {
    this.#screen.hide()
  }
}

export function seedProgressText(
  spider: string,
  { pushed, bad, read }: SeedProgress,
  seconds: number,
  paint: Paint,
): string {
  const rate = seconds > 0 ? Math.round(pushed / seconds) : 0
  return [
    paint('bold', visible(spider)),
    ...(read === undefined ? [] : [`${bar(read)} ${Math.floor(read * 100)} %`]),
    `${grouped(pushed)} pushed`,
    paint('green', `${grouped(rate)}/s`),
    ...(bad > 0 ? [paint('red', `${grouped(bad)} bad`)] : []),
  ].join(paint('dim', ' · '))
}

function bar(part: number): string {
  const full = Math.round(Math.min(1, part) * BAR_WIDTH)
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full)
}
