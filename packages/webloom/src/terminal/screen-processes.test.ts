/** The screen of a process: on a terminal, and into a pipe. */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { IN_FULL } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { ShownTerminal } from '../../testing/shown-terminal.ts'

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
  const terminal = new ShownTerminal(columns)
  terminal.write(stdout)
  return { shown: terminal.shown, written: stdout }
}

const LINES = Array.from({ length: 20 }, (_, turn) => turn)

describe('on a pseudo terminal', () => {
  test.each(IN_FULL ? [80, 40] : [40])(
    'of %i columns: log, console.log and block keep apart',
    async (columns) => {
      const { shown, written } = await onTerminal(columns, ...NODE, file('show-progress.mjs'))
      expect(shown.filter((line) => line.includes('log line'))).toHaveLength(20)
      for (const turn of LINES)
        expect(shown.some((line) => line.endsWith(`INFO     log line turn=${turn}`))).toBe(true)
      expect(shown.filter((line) => line.startsWith('console line'))).toHaveLength(4)
      expect(shown.filter((line) => line === 'half a line' || /^half a line\d\d:/.test(line))).toHaveLength(1)
      expect(shown.at(-1)).toMatch(/INFO {5}the end$/)
      expect(shown.join('\n')).not.toContain('pages/s')
      expect(written).toContain('pages/s')
      expect(written).toMatch(/\u001b\[\d+m/)
      // Four times a second for 1.4 s, and once more after each burst of lines.
      expect(written.match(/quotes/g)!.length).toBeLessThan(60)
    },
  )

  test('the block stands when the process ends without stopping it, whole, below all else; a full terminal line is coloured only where colours are wanted', async () => {
    const { shown, written } = await onTerminal(
      80,
      'env',
      'NO_COLOR=1',
      ...NODE,
      file('show-progress.mjs'),
      'stay',
    )
    expect(shown.at(-3)).toMatch(/^quotes · 00:01 · [\d.,]+ pages\/s · mean [\d.,]+$/)
    expect(shown.at(-2)).toBe('done 200 · queued 1,500 · downloading 16 · scraping 2')
    expect(shown.at(-1)).toBe('items 200 · errors 1 · retries 3 · filtered 90')
    expect(written).not.toMatch(/\u001b\[\d+m/)
  })
})

describe('into a pipe', () => {
  test('nothing is lost at process.exit, however slow the reader is', async () => {
    const child = spawn(process.execPath, ['--conditions=webloom-source', file('write-much.mjs')])
    // Waits: so slow is the reader: the program has long called process.exit.
    await sleep(700)
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    await once(child, 'close')
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(6000)
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ line: 5999 })
  })

  test('a reader that has gone stops nothing', async () => {
    const child = spawn(process.execPath, ['--conditions=webloom-source', file('write-much.mjs')])
    child.stderr.destroy()
    expect(await once(child, 'close')).toEqual([0, null])
  })
})
