import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { createLogger } from './logger.ts'
import { Screen } from './screen.ts'

/** A terminal, as far as we use one: shows what stands on it after all that was written. */
class Terminal {
  readonly isTTY = true
  readonly columns: number
  readonly rows = 50
  readonly #lines: string[] = ['']
  #row = 0
  #column = 0

  constructor(columns = 80) {
    this.columns = columns
  }

  /** The lines without the blank ones at the end. */
  get shown(): string[] {
    return this.#lines.join('\n').trimEnd().split('\n')
  }

  write(text: string): void {
    for (const [part] of text.matchAll(/\u001b\[[\d;?]*[A-Za-z]|[\s\S]/g)) this.#take(part)
  }

  #take(part: string): void {
    const count = Number(/\d+/.exec(part)?.[0] ?? 1)
    if (part === '\n') this.#move(this.#row + 1, 0)
    else if (part === '\r' || /\[1?G$/.test(part)) this.#column = 0
    else if (part.length === 1) this.#print(part)
    else if (part.endsWith('A')) this.#move(Math.max(0, this.#row - count), this.#column)
    else if (part.endsWith('B')) this.#move(this.#row + count, this.#column)
    else if (part.endsWith('[2K')) this.#lines[this.#row] = ''
    else if (part.endsWith('K')) this.#lines[this.#row] = this.#lines[this.#row]!.slice(0, this.#column)
    else if (!/[mhl]$/.test(part)) throw new Error(`this terminal does not know ${JSON.stringify(part)}`)
  }

  #move(row: number, column: number): void {
    this.#row = row
    this.#column = column
    while (this.#lines.length <= row) this.#lines.push('')
  }

  #print(char: string): void {
    if (this.#column >= this.columns) this.#move(this.#row + 1, 0)
    const line = this.#lines[this.#row]!.padEnd(this.#column)
    this.#lines[this.#row] = line.slice(0, this.#column) + char + line.slice(this.#column + 1)
    this.#column++
  }
}

describe('a screen with a block', () => {
  test('shows it below all lines, whenever they are written', async () => {
    const terminal = new Terminal()
    const screen = new Screen(terminal)
    screen.write('one\n')
    screen.show('block a\nblock b')
    screen.write('two\n')
    expect(terminal.shown).toEqual(['one', 'two'])
    await vi.waitFor(() => expect(terminal.shown).toEqual(['one', 'two', 'block a', 'block b']))
    screen.show('block c')
    screen.write('three\n')
    screen.write('four\n')
    await vi.waitFor(() => expect(terminal.shown).toEqual(['one', 'two', 'three', 'four', 'block c']))
    screen.hide()
    screen.write('five\n')
    // Twice as long as a block takes to be drawn again: none is.
    await sleep(60)
    expect(terminal.shown).toEqual(['one', 'two', 'three', 'four', 'five'])
  })

  test('is not overwritten by a long line of the log', async () => {
    const terminal = new Terminal(40)
    const screen = new Screen(terminal)
    const logger = createLogger({ destination: screen, color: false })
    screen.show('block')
    logger.info({ url: `http://example.com/${'x'.repeat(100)}` }, 'crawled')
    await vi.waitFor(() => expect(terminal.shown.join('')).toMatch(/x{100}"?block$/))
    screen.hide()
  })

  test('on no terminal shows none', () => {
    let text = ''
    const screen = new Screen({ write: (part) => (text += part) })
    screen.show('block')
    screen.write('one\n')
    screen.hide()
    expect(text).toBe('one\n')
  })

  test('gives the process its streams back', () => {
    const screen = new Screen(new Terminal())
    const { write } = process.stdout
    screen.show('block')
    screen.hide()
    screen.hide()
    expect(process.stdout.write).toBe(write)
  })
})

const file = (name: string) => fileURLToPath(new URL(`../../testdata/${name}`, import.meta.url))
const NODE = [process.execPath, '--conditions=webloom-source']

/** Runs a command on a pseudo terminal of util-linux and answers what stands on it at the end. */
async function onTerminal(
  columns: number,
  ...command: string[]
): Promise<{ shown: string[]; written: string }> {
  const line = `stty cols ${columns} rows 24 && exec ${command.map((part) => `'${part}'`).join(' ')}`
  const env = { ...process.env, NO_COLOR: '', FORCE_COLOR: undefined, TERM: 'xterm' }
  const { stdout } = await promisify(execFile)('script', ['-qec', line, '/dev/null'], { env })
  const terminal = new Terminal(columns)
  terminal.write(stdout)
  return { shown: terminal.shown, written: stdout }
}

const LINES = Array.from({ length: 20 }, (_, turn) => turn)

describe('on a pseudo terminal', () => {
  test.each([80, 40])('of %i columns: log, console.log and block keep apart', async (columns) => {
    const { shown, written } = await onTerminal(columns, ...NODE, file('show-progress.mjs'))
    expect(shown.filter((line) => line.includes('log line'))).toHaveLength(20)
    for (const turn of LINES)
      expect(shown.some((line) => line.endsWith(`INFO     log line turn=${turn}`))).toBe(true)
    expect(shown.filter((line) => line.startsWith('console line'))).toHaveLength(4)
    expect(shown.filter((line) => line === 'half a line' || /^half a line\d\d:/.test(line))).toHaveLength(1)
    expect(shown.at(-1)).toMatch(/INFO {5}the end$/)
    expect(shown.join('\n')).not.toContain('pages/s')
    expect(written).toContain('pages/s')
    // Four times a second for 1.4 s, and once more after each burst of lines.
    expect(written.match(/quotes/g)!.length).toBeLessThan(60)
  })

  test('the block stands when the process ends without stopping it, whole, below all else', async () => {
    const { shown } = await onTerminal(80, ...NODE, file('show-progress.mjs'), 'stay')
    expect(shown.at(-3)).toMatch(/^quotes · 00:01 · [\d.,]+ pages\/s · mean [\d.,]+$/)
    expect(shown.at(-2)).toBe('done 200 · queued 1,500 · downloading 16 · scraping 2')
    expect(shown.at(-1)).toBe('items 200 · errors 1 · retries 3 · filtered 90')
  })

  test('a full terminal line is coloured only where colours are wanted', async () => {
    const { written } = await onTerminal(80, 'env', 'NO_COLOR=1', ...NODE, file('show-progress.mjs'))
    expect(written).not.toMatch(/\u001b\[\d+m/)
  })
})

describe('into a pipe', () => {
  test('nothing is lost at process.exit, however slow the reader is', async () => {
    const child = spawn(process.execPath, ['--conditions=webloom-source', file('write-much.mjs')])
    // So slow is the reader: the program has long called process.exit.
    await sleep(700)
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    await once(child, 'close')
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(20_000)
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ line: 19_999 })
  })

  test('a reader that has gone stops nothing', async () => {
    const child = spawn(process.execPath, ['--conditions=webloom-source', file('write-much.mjs')])
    child.stderr.destroy()
    expect(await once(child, 'close')).toEqual([0, null])
  })
})
