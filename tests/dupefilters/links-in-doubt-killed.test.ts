import { Request } from '@webloom/core'
import { JobDir } from '@webloom/queue'
import { startProcess, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { schedulerOf, unpacedClock } from '../../packages/scheduler/testing/scheduler-of.ts'
import { fetchedRest, leased, SCHEDULER_TIMES } from './scheduling.ts'

test('JOBDIR: a link in doubt is fetched though the process is killed (-9) when the other page is done', async () => {
  await using dir = await tempDir()
  const script = new URL('./fixtures/doubt-in-jobdir.ts', import.meta.url).pathname
  const run = startProcess(process.execPath, ['--conditions=webloom-source', script, dir.path])
  const { signal } = await run.exited
  expect(signal).toBe('SIGKILL')
  const { filter, queue, record } = new JobDir({
    folder: dir.path,
    spiderName: 'test',
    clock: unpacedClock(),
  })
  await record.open()
  const { scheduler } = schedulerOf({ filter, queue, times: SCHEDULER_TIMES })
  await scheduler.open()
  const again = (await leased(scheduler, 1)).get('changing')!
  await scheduler.commit(again, [new Request('http://then.test/then')])
  expect(await fetchedRest(scheduler, AbortSignal.timeout(5000))).toEqual(['once', 'then'])
  await scheduler.close()
  await record.close()
})
