/** The monitor of one's own that docs/guides/monitors.md shows gives no false alarm. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

interface Run {
  readonly state: string
  readonly pages: number
  readonly bytes: number
}

test('it compares the size of a page with that of a run which fetched enough', async () => {
  const guide = await readFile(join(import.meta.dirname, '../../docs/guides/monitors.md'), 'utf8')
  const [method] = /custom\(run, past\) \{[\s\S]*?\n {4}\}/.exec(guide) ?? []
  const { custom } = new Function(`return { ${method} }`)() as {
    custom(run: Run, past: readonly Run[]): string | undefined
  }
  const finished = (pages: number, bytes: number): Run => ({ state: 'finished', pages, bytes })
  const usual = finished(200, 2e6)
  expect(custom(finished(200, 8e6), [usual])).toContain('three times')
  expect(custom(finished(2000, 2e7), [usual])).toBeUndefined()
  expect(custom(finished(0, 0), [usual])).toBeUndefined()
  const others = [
    finished(0, 0),
    finished(1, 10),
    finished(200, 0),
    { ...usual, state: 'stopped', bytes: 10 },
  ]
  expect(custom(usual, others)).toBeUndefined()
  expect(custom(usual, [])).toBeUndefined()
})
