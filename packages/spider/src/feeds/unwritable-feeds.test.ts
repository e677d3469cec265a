import { appendFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryStatsCollector, type WebloomError } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { feedsOfFile } from '../../testing/feeds-of-file.ts'

const feeds = feedsOfFile()
const { logger, feedOf, run, textOf } = feeds

// These have /proc and /dev/full.
const onLinux = process.platform === 'linux'

describe('an output that cannot be written', () => {
  const unwritableEvenForRoot: [string, string][] = [
    ['/proc/out', 'nothing can be created in that folder'],
    // mkdir's own `recursive` never comes back from this one.
    ['/proc/deep/out', 'nothing can be created in that folder'],
  ]

  test.each(['jsonl', 'json', 'csv'])(
    '%s: refused at open, with the cause in words and the way out',
    async (format) => {
      mkdirSync(join(feeds.folder, 'folder'))
      writeFileSync(join(feeds.folder, 'file'), 'x')
      symlinkSync('circle', join(feeds.folder, 'circle'))
      const refusals: [string, string][] = [
        ['folder', 'it is a folder. Name a file in it'],
        [
          'file/out',
          `the file ${join(feeds.folder, 'file')} stands where a folder is needed. Choose another path`,
        ],
        ['file/deep/out', `the file ${join(feeds.folder, 'file')} stands where a folder is needed`],
        ...(onLinux ? unwritableEvenForRoot : []),
        ['circle', 'its symbolic links lead in a circle'],
        ['n'.repeat(300), 'its name is too long'],
      ]
      for (const [uri, words] of refusals) {
        const error = await feedOf(uri, { format })
          .open()
          .then(
            () => undefined,
            (error: WebloomError) => error,
          )
        expect(error, uri).toMatchObject({
          code: 'WL_OUTPUT_UNWRITABLE',
          message: expect.stringContaining(words),
        })
        expect(error?.message).toContain(uri)
        expect(error?.cause).toBeInstanceOf(Error)
      }
      expect(readdirSync(feeds.folder).sort()).toEqual(['circle', 'file', 'folder'])
    },
  )

  test.runIf(onLinux)('a full disk: write() fails, stays failed, and closing is quiet', async () => {
    const stats = new MemoryStatsCollector()
    const feed = feedOf('/dev/full', { format: 'jsonl' }, { stats })
    await feed.open()
    const failure = {
      code: 'WL_OUTPUT_FAILED',
      message:
        'Writing /dev/full failed: the disk is full. What was written before stays. Make room, or choose a path on another disk.',
    }
    const results = await Promise.allSettled([feed.write([{ a: 1 }]), feed.write([{ a: 2 }])])
    expect(results).toMatchObject([{ reason: failure }, { reason: failure }])
    await expect(feed.write([{ a: 3 }])).rejects.toMatchObject(failure)
    await feed.close('finished')
    expect(stats.snapshot()).toEqual({ 'feedexport/failed_count/FileFeedStorage': 1 })
  })

  test('a device takes lines but no array', async () => {
    await run('/dev/null', [{ a: 1 }], { format: 'jsonl' })
    await run('/dev/null', [{ a: 1 }], { format: 'csv', overwrite: true })
    await expect(feedOf('/dev/null', { format: 'json' }).open()).rejects.toThrow('use the format jsonl')
    expect(existsSync('/dev/null.spool')).toBe(false)
  })

  test('a torn end in a file that grows is left to who writes it', async () => {
    const { cutRest } = await import('./formats/file-end.ts')
    const { open } = await import('node:fs/promises')
    const path = join(feeds.folder, 'out.jsonl')
    writeFileSync(path, '{"a"')
    await using file = await open(path, 'a+')
    appendFileSync(path, ':1}\n')
    await cutRest(file, 4, 0, '{"a"', { uri: 'out.jsonl', logger, lost() {} })
    expect(textOf('out.jsonl')).toBe('{"a":1}\n')
    expect(feeds.said).toMatchObject([{ level: 'warn' }])
  })
})
