/** Files that several processes write, and processes that are killed while they write. */

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { IN_FULL } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { feedsOfFile } from '../../testing/feeds-of-file.ts'

const feeds = feedsOfFile()
const { feedOf, run, textOf, program, here } = feeds

const onLinux = process.platform === 'linux'

test('kill -9 while writing: every line parses, and so it is after the next run', async () => {
  const body = `
    const text = 'x'.repeat(300_000)
    writeSync(1, 'begun')
    for (let n = 0; ; n++) await feed.write([{ n, text }, { n, text }])`
  for (let round = 0; round < (IN_FULL ? 30 : 1); round++) {
    const child = spawn(process.execPath, program('out.jsonl', {}, body), {
      ...here,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const out = join(feeds.folder, 'out.jsonl')
    await vi.waitUntil(() => existsSync(out) && statSync(out).size >= 3_000_000, { interval: 1 })
    child.kill('SIGKILL')
    expect(await exited).toBe('SIGKILL')
    await run('out.jsonl', [{ round }])
    const lines = textOf('out.jsonl')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.at(-1)).toEqual({ round })
    rmSync(join(feeds.folder, 'out.jsonl'))
  }
})

test.runIf(onLinux)('a disk that is full in the middle of a batch leaves whole lines', () => {
  const body = `
    const text = 'x'.repeat(3000)
    for (let n = 0; n < 100; n++) await feed.write([{ n, text }]).catch((error) => {
      writeSync(1, error.code + ' ' + error.message)
      process.exit(3)
    })`
  const script = `ulimit -f 100; exec "$0" "$@"`
  const child = spawnSync('bash', ['-c', script, process.execPath, ...program('out.jsonl', {}, body)], here)
  expect(child.stderr.toString()).toBe('')
  expect(child.stdout.toString()).toContain(
    'WL_OUTPUT_FAILED Writing out.jsonl failed: the file is as big as files may be',
  )
  const lines = textOf('out.jsonl').split('\n')
  expect(lines.pop()).toBe('')
  expect(lines.length).toBeGreaterThan(10)
  for (const line of lines) JSON.parse(line)
})

test('two processes that append to one file: whole lines of both', async () => {
  const body = `
    const text = 'x'.repeat(20_000)
    for (let n = 0; n < 200; n++) await feed.write([{ pid: process.pid, n, text }])
    await feed.close()`
  const exits = [1, 2].map(() => {
    const child = spawn(process.execPath, program('out.jsonl', {}, body), { ...here, stdio: 'inherit' })
    return new Promise((resolve) => child.once('exit', resolve))
  })
  expect(await Promise.all(exits)).toEqual([0, 0])
  const lines = textOf('out.jsonl')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.length).toBe(400)
})

test.each(IN_FULL ? ['out.csv', 'out.json', 'out.jsonl.gz'] : ['out.json'])(
  '%s has one process that writes it; the next one may when that is gone',
  async (uri) => {
    const body = `process.send('open'); setInterval(() => {}, 1000)`
    const other = spawn(process.execPath, program(uri, {}, body), {
      ...here,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await new Promise((resolve) => other.once('message', resolve))
    await expect(feedOf(uri).open()).rejects.toMatchObject({
      code: 'WL_OUTPUT_UNWRITABLE',
      message: expect.stringMatching(new RegExp(`process ${other.pid} on .* is writing it.*%\\(worker\\)s`)),
    })
    other.kill('SIGKILL')
    await new Promise((resolve) => other.once('exit', resolve))
    if (process.platform === 'linux') await expectZombieIsGone(uri)
    await run(uri, [{ n: 1 }])
    expect(readdirSync(feeds.folder)).toEqual([uri])
  },
)

/** A process that was killed and whose parent does not ask for it: it is there, and writes nothing any more. */
async function expectZombieIsGone(uri: string): Promise<void> {
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const pid = await new Promise<number>((resolve) =>
      parent.stdout.once('data', (text) => resolve(Number(text))),
    )
    // As long as it is a shell, it asks for its children.
    await vi.waitFor(() => expect(readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n'))
    process.kill(pid, 'SIGKILL')
    await vi.waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) Z /))
    writeFileSync(join(feeds.folder, `${uri}.lock`), JSON.stringify({ pid, host: hostname() }))
    const feed = feedOf(uri)
    await feed.open()
    await feed.close('not_opened')
  } finally {
    parent.kill('SIGKILL')
  }
}
