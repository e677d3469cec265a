import { Request } from '@webloom/core'
import { JobDir, MemoryHostClock } from '@webloom/queue'
import { startProcess, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { fetchedRest, leased, schedulerOf } from './scheduling.ts'

const pace = { delayMs: 0, concurrency: 0, randomize: false }

test('JOBDIR: a link in doubt is fetched though the process is killed (-9) when the other page is done', async () => {
  await using dir = await tempDir()
  const script = new URL('./fixtures/doubt-in-jobdir.ts', import.meta.url).pathname
  const run = startProcess(process.execPath, ['--conditions=webloom-source', script, dir.path])
  const { signal } = await run.exited
  expect(signal).toBe('SIGKILL')
  const { filter, queue, record } = new JobDir({
    folder: dir.path,
    spiderName: 'test',
    clock: new MemoryHostClock({ pace }),
  })
  await record.open()
  const { scheduler } = schedulerOf(filter, queue)
  await scheduler.open()
  const again = (await leased(scheduler, 1)).get('changing')!
  await scheduler.commit(again, [new Request('http://then.test/then')])
  expect(await fetchedRest(scheduler, AbortSignal.timeout(5000))).toEqual(['once', 'then'])
  await scheduler.close()
  await record.close()
})
