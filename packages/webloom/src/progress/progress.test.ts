import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { painter } from '../terminal/color.ts'
import { Screen } from '../terminal/screen.ts'
import { PageRate, ProgressBlock, progressLines } from './progress.ts'

const SNAPSHOT = {
  done: 2103,
  queued: 51_234,
  downloading: 16,
  scraping: 3,
  items: 1950,
  errors: 3,
  retries: 12,
  filtered: 4810,
}
const SPEED = { elapsedMs: 83_000, now: 26.31, mean: 1240 }

describe('the lines', () => {
  test('on 80 columns are three', () => {
    expect(progressLines('quotes', SNAPSHOT, SPEED, 80, painter(false))).toEqual([
      'quotes · 01:23 · 26.3 pages/s · mean 1,240',
      'done 2,103 · queued 51,234 · downloading 16 · scraping 3',
      'items 1,950 · errors 3 · retries 12 · filtered 4,810',
    ])
  })

  test('on 40 columns break between two figures', () => {
    expect(progressLines('quotes', SNAPSHOT, SPEED, 40, painter(false))).toEqual([
      'quotes · 01:23 · 26.3 pages/s',
      'mean 1,240',
      'done 2,103 · queued 51,234',
      'downloading 16 · scraping 3',
      'items 1,950 · errors 3 · retries 12',
      'filtered 4,810',
    ])
  })

  test.each([1, 5, 10, 20, 39, 40, 79, 80, 300])('on %i columns are shorter than that', (columns) => {
    for (const color of [true, false]) {
      const lines = progressLines(
        'a-spider-with-a-long-name'.repeat(5),
        SNAPSHOT,
        SPEED,
        columns,
        painter(color),
      )
      const widths = lines.map((line) => stripVTControlCharacters(line).length)
      expect(Math.max(...widths)).toBeLessThan(Math.max(2, columns))
    }
  })

  test('errors are red once there are any', () => {
    const painted = (errors: number) =>
      progressLines('q', { ...SNAPSHOT, errors }, SPEED, 80, painter(true)).join()
    expect(painted(1)).toContain('\u001b[31merrors 1')
    expect(painted(0)).not.toContain('\u001b[31m')
  })

  test('the name of a spider cannot move the cursor', () => {
    expect(progressLines('a\u001b[9A', SNAPSHOT, SPEED, 80, painter(false))[0]).toContain('a\\x1b[9A')
  })
})

describe('the rate', () => {
  test('is that of the last five seconds beside that since the start', () => {
    const rate = new PageRate()
    expect(rate.at(0, 100)).toEqual({ elapsedMs: 0, now: 0, mean: 0 })
    for (let time = 250; time <= 10_000; time += 250) rate.at(time, 100)
    // After ten idle seconds, one page every 250 ms.
    for (let time = 10_250; time <= 20_000; time += 250) rate.at(time, 100 + (time - 10_000) / 250)
    expect(rate.at(20_000, 140)).toEqual({ elapsedMs: 20_000, now: 4, mean: 2 })
  })
})

describe('the block', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  function tty() {
    return {
      isTTY: true,
      columns: 80,
      text: '',
      write(text: string) {
        this.text += text
      },
    }
  }

  test('asks at most four times a second, and not again before it has an answer', async () => {
    const asked = async (answerMs: number) => {
      // Waits: so long an answer takes.
      const read = vi.fn(() => new Promise<typeof SNAPSHOT>((done) => setTimeout(done, answerMs, SNAPSHOT)))
      const block = new ProgressBlock({ screen: new Screen(tty()), spider: 'quotes', read })
      block.start()
      block.start()
      await vi.advanceTimersByTimeAsync(2000)
      block.stop()
      block.stop()
      await vi.advanceTimersByTimeAsync(2000)
      return read.mock.calls.length
    }
    expect(await asked(10)).toBe(9)
    // Answered 400 ms later each time, and so asked at every second moment.
    expect(await asked(400)).toBe(5)
  })

  test('shows nothing after it was stopped, though an answer comes', async () => {
    const stream = tty()
    const answer = Promise.withResolvers<typeof SNAPSHOT>()
    const block = new ProgressBlock({
      screen: new Screen(stream),
      spider: 'quotes',
      read: () => answer.promise,
    })
    block.start()
    block.stop()
    answer.resolve(SNAPSHOT)
    await vi.advanceTimersByTimeAsync(1000)
    expect(stream.text).toBe('')
  })

  test('gives up with one line when it cannot ask', async () => {
    const stream = tty()
    const read = () => {
      throw new Error('no counts\u001b[2J')
    }
    new ProgressBlock({ screen: new Screen(stream), spider: 'quotes', read }).start()
    const line = 'The progress display has stopped: Error: no counts\\x1b[2J\n'
    await vi.advanceTimersByTimeAsync(1000)
    expect(stream.text).toBe(line)
  })

  test('on no terminal neither asks nor shows', async () => {
    let asked = 0
    const read = () => {
      asked++
      return SNAPSHOT
    }
    const stream = { ...tty(), isTTY: false }
    const block = new ProgressBlock({ screen: new Screen(stream), spider: 'quotes', read })
    block.start()
    await vi.advanceTimersByTimeAsync(1000)
    block.stop()
    expect([asked, stream.text]).toEqual([0, ''])
  })
})
