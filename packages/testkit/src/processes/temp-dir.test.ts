import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { tempDir } from '../index.ts'

test('a temporary folder is gone after its block, with all that is in it', async () => {
  let path: string
  {
    await using dir = await tempDir()
    path = dir.path
    await mkdir(dir.join('jobs', 'one'), { recursive: true })
    await writeFile(dir.join('jobs', 'one', 'requests.seen'), 'x')
    expect(existsSync(path)).toBe(true)
  }
  expect(existsSync(path)).toBe(false)
})
