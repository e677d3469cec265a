import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type ItemFeed, Settings, type SettingsInput } from '@webloom/core'
import { type S3Server, startS3Server, type TempDir, tempDir } from '@webloom/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type FeedsContext, feedsFrom } from './feed-options.ts'

const keys = { accessKeyId: 'AKID', secretAccessKey: 'se/cr+et' }

let folder: TempDir
let s3: S3Server
beforeEach(async () => {
  folder = await tempDir()
  s3 = await startS3Server({ bucket: 'my-bucket', ...keys })
})
afterEach(async () => {
  await s3[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})

function feedOf(uri: string, settings: SettingsInput = {}, context: Partial<FeedsContext> = {}): ItemFeed {
  const all = new Settings({
    AWS_ENDPOINT_URL: s3.url,
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    FEEDS: { [uri]: {} },
    ...settings,
  })
  const [feed] = feedsFrom(all, { spiderName: 'quotes', startedAt: new Date(), cwd: folder.path, ...context })
  return feed!
}

async function run(uri: string, items: readonly unknown[], settings: SettingsInput = {}) {
  const feed = feedOf(uri, settings)
  await feed.open()
  await feed.write(items)
  await feed.close('finished')
}

test('an object, whatever its name, with the ACL that was asked for; no spool is left', async () => {
  await run('s3://my-bucket/a b/ü+(1)!.jsonl', [{ n: 1 }], { FEED_STORAGE_S3_ACL: 'public-read' })
  expect(s3.objects.get('a b/ü+(1)!.jsonl')?.toString()).toBe('{"n":1}\n')
  expect(s3.acls.get('a b/ü+(1)!.jsonl')).toBe('public-read')
  const left = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  expect(left).toEqual([])
})

test('while the crawl runs the items are in a spool, and nothing can be seen in the bucket', async () => {
  s3.objects.set('out.csv.gz', Buffer.from('old'))
  const feed = feedOf('s3://my-bucket/out.csv.gz', { FEED_TEMPDIR: 'spools' })
  await feed.open()
  await feed.write([{ n: 1 }])
  expect(readFileSync(join(folder.path, 'spools/my-bucket/out.csv.gz.spool'), 'utf8')).toBe('{"n":1}\n')
  expect(s3.objects.get('out.csv.gz')?.toString()).toBe('old')
  expect(s3.uploads.size).toBe(0)
  await feed.close('finished')
  expect(gunzipSync(s3.objects.get('out.csv.gz')!).toString()).toBe('n\r\n1\r\n')
})

test('a big one goes in parts', async () => {
  const text = 'x'.repeat(100_000)
  await run(
    's3://my-bucket/big.jsonl',
    Array.from({ length: 90 }, (_, n) => ({ n, text })),
  )
  const lines = s3.objects.get('big.jsonl')!.toString().trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 90 }, (_, n) => n))
  expect(s3.asked.filter((what) => what === 'PUT part')).toHaveLength(2)
  expect(s3.uploads.size).toBe(0)
})

test('a service in trouble is asked again', async () => {
  const feed = feedOf('s3://my-bucket/out.jsonl')
  await feed.open()
  await feed.write([{ n: 1 }])
  s3.failNext(503, 0, 429)
  await feed.close('finished')
  expect(s3.objects.get('out.jsonl')?.toString()).toBe('{"n":1}\n')
})

test('what cannot be sent stays in the spool, and the message says where', async () => {
  const feed = feedOf('s3://my-bucket/out.jsonl')
  await feed.open()
  await feed.write([{ n: 1 }])
  s3.failNext(403)
  const spool = join(folder.path, '.webloom/feeds/my-bucket/out.jsonl.spool')
  await expect(feed.close('finished')).rejects.toMatchObject({
    code: 'WL_OUTPUT_FAILED',
    message: expect.stringContaining(`it answers 403. The items are in ${spool}, one a line`),
  })
  expect(existsSync(spool)).toBe(true)
})

test.each([
  ['another bucket', 's3://other-bucket/out.jsonl', {}, /404 NoSuchBucket: There is no such bucket/],
  [
    'a wrong secret',
    's3://my-bucket/out.jsonl',
    { AWS_SECRET_ACCESS_KEY: 'wrong' },
    /403 SignatureDoesNotMatch/,
  ],
])('%s is told before anything is fetched', async (_, uri, settings, words) => {
  await expect(feedOf(uri, settings).open()).rejects.toMatchObject({
    code: 'WL_OUTPUT_UNWRITABLE',
    message: expect.stringMatching(words),
  })
})

test('a service that is not there is told before anything is fetched', async () => {
  const gone = await startS3Server({ bucket: 'my-bucket', ...keys })
  const url = gone.url
  await gone[Symbol.asyncDispose]()
  await expect(feedOf('s3://my-bucket/out.jsonl', { AWS_ENDPOINT_URL: url }).open()).rejects.toMatchObject({
    code: 'WL_OUTPUT_UNWRITABLE',
    message: expect.stringMatching(/cannot be reached: .*ECONNREFUSED/),
  })
})

test('keys may stand in the URI, and are shown nowhere', async () => {
  const secret = encodeURIComponent(keys.secretAccessKey)
  const uri = `s3://${keys.accessKeyId}:${secret}@my-bucket/out.jsonl`
  await run(uri, [{ n: 1 }], { AWS_ACCESS_KEY_ID: null, AWS_SECRET_ACCESS_KEY: null })
  expect(s3.objects.has('out.jsonl')).toBe(true)
  expect(feedOf(uri).uri).toBe('s3://my-bucket/out.jsonl')
})

test('a resumed crawl sends the whole object again', async () => {
  const begun = new Set<string>()
  const record = {
    outputBegun: async (path: string) => begun.has(path),
    beginOutput: async (path: string) => void begun.add(path),
  }
  for (const [n, reason] of [
    [1, 'shutdown'],
    [2, 'finished'],
  ] as const) {
    const feed = feedOf('s3://my-bucket/out.json', {}, { record })
    await feed.open()
    await feed.write([{ n }])
    await feed.close(reason)
  }
  expect(JSON.parse(s3.objects.get('out.json')!.toString())).toEqual([{ n: 1 }, { n: 2 }])
})
