import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { fingerprint, Request, silentLogger } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import { JobDir } from './job-dir.ts'

const page = (n: number) => new Request(`http://a.test/${n}`)
const hexOf = (n: number) => fingerprint(page(n))
/** As Scrapy 2.19 writes it. */
const record = (n: number) => Buffer.from(`0014${hexOf(n)}`, 'hex')
const line = (n: number) => `${hexOf(n)}\n`

function jobDirIn(folder: string, warnings: string[] = []) {
  const clock = new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } })
  const logger = {
    ...silentLogger,
    warn: (...said: unknown[]) => void warnings.push(String(said.at(-1))),
  }
  return new JobDir({ folder, spiderName: 's', clock, logger })
}

/** Whether each of pages 1 to 5 was seen, in a folder whose file is this before the first run. */
async function seenIn(folder: string, warnings: string[] = []) {
  const { record: crawl, filter } = jobDirIn(folder, warnings)
  await crawl.open()
  try {
    await filter.open()
    const seen: boolean[] = []
    for (const n of [1, 2, 3, 4, 5]) seen.push(await filter.requestSeen(page(n)))
    return seen
  } finally {
    await filter.close()
    await crawl.close()
  }
}

test('a file of Scrapy 2.19 is read and goes on in its own form', async () => {
  await using dir = await tempDir()
  writeFileSync(dir.join('requests.seen'), Buffer.concat([record(2), record(4)]))
  expect(await seenIn(dir.path)).toEqual([false, true, false, true, false])
  expect(readFileSync(dir.join('requests.seen'))).toEqual(Buffer.concat([2, 4, 1, 3, 5].map(record)))
  expect(await seenIn(dir.path)).toEqual([true, true, true, true, true])
  expect(readFileSync(dir.join('requests.seen'))).toHaveLength(5 * 22)
})

test('a file of lines goes on in lines; a new one is as the Scrapy of today writes it', async () => {
  await using dir = await tempDir()
  writeFileSync(dir.join('requests.seen'), line(2))
  expect(await seenIn(dir.path)).toEqual([false, true, false, false, false])
  expect(readFileSync(dir.join('requests.seen'), 'utf8')).toBe([2, 1, 3, 4, 5].map(line).join(''))
  await using other = await tempDir()
  expect(await seenIn(other.path)).toEqual([false, false, false, false, false])
  expect(readFileSync(other.join('requests.seen'))).toEqual(Buffer.concat([1, 2, 3, 4, 5].map(record)))
})

test('half a record, as a killed run leaves it, is cut off; what Scrapy has added since is taken over', async () => {
  await using dir = await tempDir()
  const { record: crawl, filter } = jobDirIn(dir.path)
  await crawl.open()
  await filter.open()
  expect(await filter.requestSeen(page(1))).toBe(false)
  await filter.close()
  await crawl.close()
  appendFileSync(dir.join('requests.seen'), Buffer.concat([record(3), record(5).subarray(0, 9)]))
  const warnings: string[] = []
  expect(await seenIn(dir.path, warnings)).toEqual([true, false, true, false, false])
  expect(readFileSync(dir.join('requests.seen'))).toEqual(Buffer.concat([1, 3, 2, 4, 5].map(record)))
  expect(warnings.join()).toContain('in the middle of an entry')
})

describe('a file that is neither is refused and left as it is', () => {
  test.each([
    ['lines, to which Scrapy 2.19 has added records', Buffer.concat([Buffer.from(line(1)), record(2)]), 41],
    ['records, to which lines were added', Buffer.concat([record(1), Buffer.from(line(2))]), 22],
    [
      'records that were cut and mixed with lines',
      Buffer.concat([record(1), record(2).subarray(0, 9), Buffer.from(line(3).repeat(9))]),
      44,
    ],
    ['noise', Buffer.from([0x80, 0x02, 0x00, 0x04]), 1],
    ['an image', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 6],
  ])('%s', async (_name, bytes, at) => {
    await using dir = await tempDir()
    writeFileSync(dir.join('requests.seen'), bytes)
    await expect(seenIn(dir.path)).rejects.toThrow(`is none from byte ${at} on`)
    expect(readFileSync(dir.join('requests.seen'))).toEqual(bytes)
  })
})

test('another file than the one that was written last is taken over as a whole', async () => {
  await using dir = await tempDir()
  writeFileSync(dir.join('requests.seen'), line(1))
  const { record: crawl, filter } = jobDirIn(dir.path)
  await crawl.open()
  await filter.open()
  await filter.close()
  await crawl.close()
  writeFileSync(dir.join('requests.seen'), Buffer.concat([2, 3, 4].map(record)))
  expect(await seenIn(dir.path)).toEqual([true, true, true, true, false])
  expect(readFileSync(dir.join('requests.seen'))).toEqual(Buffer.concat([1, 2, 3, 4, 5].map(record)))
})

test('fingerprints of a user’s own go to a binary file and back to the database once', async () => {
  await using dir = await tempDir()
  const make = () => {
    const clock = new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } })
    const fingerprinter = {
      name: 'own',
      fingerprint: ({ url }: Request) => url.padEnd(url.endsWith('2') ? 5000 : 0, 'x'),
    }
    return new JobDir({ folder: dir.path, spiderName: 's', clock, fingerprinter })
  }
  for (const isSeen of [false, true]) {
    const { record: crawl, filter } = make()
    await crawl.open()
    await filter.open()
    expect(await filter.requestSeen(page(1))).toBe(isSeen)
    expect(await filter.requestSeen(page(2))).toBe(isSeen)
    expect((await filter.describe()).count).toBe(2)
    await filter.close()
    await crawl.close()
  }
})
