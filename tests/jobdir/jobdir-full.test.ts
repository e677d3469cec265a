/** A JOBDIR on a disk that is full. Needs a small disk of its own, which root alone can mount: elsewhere it is left out. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TempDir, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hosts } from '../projects/command-hosts.ts'

const PAGES = 400
const LONG = { timeout: 180_000 }

const mount = (...words: string[]) => spawnSync('mount', words, { stdio: 'ignore' }).status === 0

let folder: TempDir
let disk: string
let isMounted = false
beforeAll(async () => {
  folder = await tempDir()
  disk = folder.join('disk')
  mkdirSync(disk)
  isMounted = mount('-t', 'tmpfs', '-o', 'size=2m', 'webloom-test', disk)
})
afterAll(async () => {
  // A process that has told its exit code may have files open still, for a moment.
  if (isMounted) spawnSync('umount', ['--lazy', disk])
  await folder.remove()
})

test(
  'is told once, with what to do; with room there the same line goes on, and no page is lost',
  LONG,
  async ({ skip }) => {
    if (!isMounted) skip('no disk can be mounted here')
    const file = folder.join('full.mjs')
    writeFileSync(
      file,
      `import { Request, Spider } from ${JSON.stringify(import.meta.resolve('webloom'))}
export default class Full extends Spider {
  name = 'full';
  *start() { for (let n = 0; n < ${PAGES}; n++) yield new Request('data:,' + n, { meta: { pad: 'x'.repeat(10_000) } }) }
  *parse(response) { yield { text: response.text } }
}\n`,
    )
    const crawled = (name: string) =>
      hosts.start(
        [
          ...['runspider', file, '-s', `JOBDIR=${join(disk, 'job')}`, '-s', 'LOG_FORMAT=json'],
          ...['-o', folder.join('items.jsonl'), '--stats-file', folder.join(name)],
        ],
        { cwd: folder.path, timeoutMs: 150_000 },
      ).exited
    const full = await crawled('full.json')
    expect(full.code, full.stderr).toBe(1)
    const errors = full.stderr.split('\n').filter((line) => line.includes('"level":"ERROR"'))
    expect(errors.map((line) => JSON.parse(line).msg)).toEqual([
      expect.stringMatching(
        /^the crawl ends: JOBDIR .* the disk is full\..*make room there, and run the same line/,
      ),
    ])
    expect(full.stderr).toMatch(/\nwebloom: JOBDIR .* the disk is full\..*\[WL_OUTPUT_FAILED\]\n$/)

    expect(mount('-o', 'remount,size=64m', disk)).toBe(true)
    const gone = await crawled('gone.json')
    expect(gone.code, gone.stderr).toBe(0)
    // Requests are queued, or these have been fetched before and start() alone is left.
    const { 'downloader/request_count': fetched } = JSON.parse(readFileSync(folder.join('gone.json'), 'utf8'))
    const hasQueued = /queued already: going on with them/.test(gone.stderr)
    expect({ hasQueued, fetched }).toSatisfy(() => hasQueued || fetched < PAGES)
    const items = readFileSync(folder.join('items.jsonl'), 'utf8').trim().split('\n')
    expect(new Set(items.map((line) => JSON.parse(line).text)).size).toBe(PAGES)
  },
)
