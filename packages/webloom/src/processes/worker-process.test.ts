import { join } from 'node:path'
import { silentLogger } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { EXIT } from '../exit-codes.ts'
import { startWorkerProcess } from './worker-process.ts'

const CLI = join(import.meta.dirname, '../../bin/webloom.js')

test('a worker that refuses its crawl tells the process that has started it why', async () => {
  await using folder = await tempDir()
  const argv = ['worker', folder.join('gone.ts')]
  const { ended } = startWorkerProcess({
    program: CLI,
    argv,
    place: 1,
    blockedMsMax: 0,
    logger: silentLogger,
  })
  expect(await ended).toMatchObject({ code: EXIT.usage, refused: expect.stringContaining('gone.ts') })
})
