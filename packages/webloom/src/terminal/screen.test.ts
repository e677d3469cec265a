import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { ShownTerminal } from '../../testing/shown-terminal.ts'
import { createLogger } from './logger.ts'
import { Screen } from './screen.ts'

describe('a screen with a block', () => {
  test('shows it below all lines, whenever they are written', async () => {
    const terminal = new ShownTerminal()
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
    // Waits: twice as long as a block takes to be drawn again: none is.
    await sleep(60)
    expect(terminal.shown).toEqual(['one', 'two', 'three', 'four', 'five'])
  })

  test('is not overwritten by a long line of the log', async () => {
    const terminal = new ShownTerminal(40)
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
    const screen = new Screen(new ShownTerminal())
    const { write } = process.stdout
    screen.show('block')
    screen.hide()
    screen.hide()
    expect(process.stdout.write).toBe(write)
  })
})
