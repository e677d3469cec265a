import { writeFileSync } from 'node:fs'
import { tempDir } from '@webloom/testkit'
import { afterEach, expect, test, vi } from 'vitest'
import { importProjectFile } from './import-project-file.ts'
import { loadedInTime } from './loaded-in-time.ts'

afterEach(() => void vi.restoreAllMocks())

test('a file whose top level waits for ever is told of, and given up', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {})
  await using folder = await tempDir()
  const file = folder.join('waits.mjs')
  writeFileSync(file, 'await new Promise(() => {})')
  const loading = importProjectFile(file, 'WL_COMPONENT_LOAD', { toldAfterMs: 1, timeoutMs: 200 })
  const what = `${file}: an await at the top level of this file, or of one that it imports, has not settled`
  await expect(loading).rejects.toMatchObject({ code: 'WL_COMPONENT_LOAD', message: `${what} within 0.2 s` })
  expect(said.mock.calls).toEqual([[`webloom: ${what} after 0.001 s; it is given up after 0.2 s`]])
})

test('what is loaded in time is not told of, and leaves nothing behind', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {})
  const listeners = process.listenerCount('exit')
  const loads = Array.from({ length: 20 }, (_, n) => loadedInTime('it', Promise.resolve(n)))
  expect(process.listenerCount('exit')).toBe(listeners + 1)
  expect(await Promise.all(loads)).toHaveLength(20)
  expect(process.listenerCount('exit')).toBe(listeners)
  expect(said).not.toHaveBeenCalled()
})
