/**
 * `worker --processes` on a terminal: the lines of all workers made readable, each with who says it, and below them one
 * block for all.
 */

import type { Readable } from 'node:stream'
import type { Settings, StatValue } from '@webloom/core'
import type { CrawlSnapshot } from '../assembly/crawl.ts'
import type { WorkersView } from '../processes/worker-process.ts'
import { colorWanted, type Paint, painter } from '../terminal/color.ts'
import { prettyLine, readRecord } from '../terminal/log-line.ts'
import { logsAreForPeople } from '../terminal/logger-of.ts'
import { visible } from '../terminal/sanitize.ts'
import { processScreen, type Screen } from '../terminal/screen.ts'
import { type Progress, startProgress } from './progress.ts'

/** Longer lines come out in pieces. */
const LINE_CHARS_MAX = 2 ** 20

/** Undefined where nobody sits there: then what the processes write comes out as it is. */
export function workersScreen(title: string, settings: Settings): WorkersScreen | undefined {
  const screen = processScreen()
  if (!screen.isTty) return undefined
  return new WorkersScreen({
    title,
    screen,
    // Into a LOG_FILE the processes write themselves.
    readsJson: logsAreForPeople(settings) && settings.get('LOG_FILE') === null,
    showsProgress: settings.getBool('LOG_ENABLED'),
    color: settings.getBool('LOG_COLOR') && colorWanted(true),
  })
}

interface WorkersScreenOptions {
  readonly title: string
  readonly screen: Screen
  readonly readsJson: boolean
  readonly showsProgress: boolean
  readonly color: boolean
}

export class WorkersScreen implements WorkersView {
  /** A terminal alone, as a block stands there that they would write into. */
  readonly takesOutput = process.stdout.isTTY === true
  /** Whether the processes' log is to come as JSON. */
  readonly readsJson: boolean
  /** Stats of those that ended in order. */
  readonly told: Readonly<Record<string, StatValue>>[] = []
  readonly #screen: Screen
  readonly #paint: Paint
  readonly #tally = new WorkersTally()
  readonly #progress: Progress | undefined

  constructor({ title, screen, readsJson, showsProgress, color }: WorkersScreenOptions) {
    this.readsJson = readsJson
    this.#screen = screen
    this.#paint = painter(color)
    if (showsProgress)
      this.#progress = startProgress({ spider: { name: title }, snapshot: () => this.#tally.together })
  }

  started(place: number, { stdout, stderr }: { stdout: Readable | null; stderr: Readable | null }): void {
    if (stderr) readLines(stderr, (line) => this.#said(place, line))
    // A watched stream: the block makes room for it.
    if (stdout) readLines(stdout, (line) => void process.stdout.write(`${line}\n`))
  }

  snapshot(place: number, snapshot: CrawlSnapshot): void {
    this.#tally.seen(place, snapshot)
  }

  ended(place: number, stats?: Readonly<Record<string, StatValue>>): void {
    this.#tally.gone(place)
    if (stats) this.told.push(stats)
  }

  /** Takes the block away. */
  close(): void {
    this.#progress?.stop()
  }

  #said(place: number, line: string): void {
    const speaker = `worker ${place}:`
    const record = this.readsJson ? readRecord(line) : undefined
    // Those of all are shown together, at the end.
    if (record?.msg === 'final stats' && 'stats' in record) return
    if (record) this.#screen.write(prettyLine(record, this.#paint, speaker))
    else if (readRecord(line)) this.#screen.write(`${line}\n`)
    else this.#screen.write(`${this.#paint('cyan', speaker)} ${visible(line)}\n`)
  }
}

type Counts = Omit<CrawlSnapshot, 'queued' | 'downloading' | 'scraping'>

/** What all workers together have done, those included that are gone. */
class WorkersTally {
  readonly #present = new Map<number, CrawlSnapshot>()
  #gone: Counts = { done: 0, items: 0, errors: 0, filtered: 0, retries: 0 }
  /** As the last snapshot says, whichever worker sent it: all share one queue. */
  #queued = 0

  seen(place: number, snapshot: CrawlSnapshot): void {
    this.#present.set(place, snapshot)
    this.#queued = snapshot.queued
  }

  gone(place: number): void {
    const last = this.#present.get(place)
    this.#present.delete(place)
    if (last) this.#gone = sumOf([this.#gone, last])
  }

  get together(): CrawlSnapshot {
    const present = [...this.#present.values()]
    const sum = (name: 'downloading' | 'scraping') => present.reduce((total, each) => total + each[name], 0)
    return {
      ...sumOf([this.#gone, ...present]),
      queued: this.#queued,
      downloading: sum('downloading'),
      scraping: sum('scraping'),
    }
  }
}

function sumOf(all: readonly Counts[]): Counts {
  const sum = (name: keyof Counts) => all.reduce((total, each) => total + each[name], 0)
  return {
    done: sum('done'),
    items: sum('items'),
    errors: sum('errors'),
    filtered: sum('filtered'),
    retries: sum('retries'),
  }
}

/** Calls `take` for each line, and at the end for one without a line end. */
function readLines(stream: Readable, take: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) take(line)
    if (rest.length <= LINE_CHARS_MAX) return
    take(rest)
    rest = ''
  })
  stream.on('end', () => {
    if (rest !== '') take(rest)
  })
}
