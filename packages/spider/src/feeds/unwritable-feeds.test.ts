import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
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

  test.each([
    ['jsonl', 'out'],
    ['csv', 'out'],
    ['json', 'out.spool'],
  ])(
    '%s: a file that was removed fails its feed while it is written, and at its end',
    async (format, file) => {
      const path = join(feeds.folder, file)
      const failure = { code: 'WL_OUTPUT_FAILED', message: expect.stringContaining(`${path} was removed`) }
      for (const isAtEnd of [false, true]) {
        const feed = feedOf('out', { format, overwrite: true })
        await feed.open()
        await feed.write([{ a: 1 }])
        rmSync(path)
        if (isAtEnd) await expect(feed.close('finished')).rejects.toMatchObject(failure)
        else {
          await expect(untilFails(feed)).rejects.toMatchObject(failure)
          await feed.close('output_failed')
        }
        if (onLinux) expect(openFiles().filter((open) => open.includes(feeds.folder))).toEqual([])
        // Nothing says where items are that are nowhere.
        expect(feeds.said).toEqual([])
      }
    },
  )

  test('a spool that was moved fails its feed, and a file that took its name does not become the output', async () => {
    const spool = join(feeds.folder, 'out.spool')
    for (const isReplaced of [false, true]) {
      const feed = feedOf('out', { format: 'json', overwrite: true })
      await feed.open()
      await feed.write([{ a: 1 }])
      renameSync(spool, join(feeds.folder, `moved-${isReplaced}`))
      if (isReplaced) writeFileSync(spool, '{"stranger":1}\n')
      await expect(feed.close('finished')).rejects.toThrow(`${spool} was removed, or replaced`)
      expect(existsSync(join(feeds.folder, 'out'))).toBe(false)
      expect(feeds.said).toEqual([])
    }
  })

  test.runIf(onLinux)('a file that has no name from the start is written, and each is closed', async () => {
    const path = join(feeds.folder, 'nameless')
    const file = openSync(path, 'a+')
    rmSync(path)
    await run(`/proc/self/fd/${file}`, [{ a: 1 }], { format: 'jsonl' })
    expect(readFileSync(`/proc/self/fd/${file}`, 'utf8')).toBe('{"a":1}\n')
    closeSync(file)
    expect(openFiles().filter((open) => open.includes(feeds.folder))).toEqual([])
  })

  test('a file that was moved is written to where it is', async () => {
    const feed = feedOf('out', { format: 'jsonl' })
    await feed.open()
    await feed.write([{ a: 1 }])
    renameSync(join(feeds.folder, 'out'), join(feeds.folder, 'out.1'))
    await feed.write([{ a: 2 }])
    await feed.close('finished')
    expect(textOf('out.1')).toBe('{"a":1}\n{"a":2}\n')
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

/** Those of this process. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((file) => {
    try {
      return [readlinkSync(`/proc/self/fd/${file}`)]
    } catch {
      // That of the folder itself, which is closed now.
      return []
    }
  })
}

/** It is looked for each second. */
async function untilFails(feed: { write(items: readonly unknown[]): Promise<void> }): Promise<void> {
  const until = performance.now() + 5000
  while (performance.now() < until) {
    await feed.write([{ a: 2 }])
    await nextTurn()
  }
}
