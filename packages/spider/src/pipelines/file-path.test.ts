import { readFileSync } from 'node:fs'
import { cpuMs } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { filePath } from './file-path.ts'

// The rule of Scrapy's FilesPipeline.file_path, restated in Python with its own table of types; not made by running Scrapy.
const vectors: Record<string, string> = JSON.parse(
  readFileSync(new URL('../../testdata/scrapy-file-paths.json', import.meta.url), 'utf8'),
)

test.each(Object.entries(vectors))('%s', (url, path) => {
  expect(filePath(url)).toBe(path)
})

test.each(['/', ';', '.', '.tgz', '/;', '?', 'a;'])('300 KB of %j take no long time', (unit) => {
  const began = cpuMs()
  for (const end of ['', 'a', '/', ';a'])
    filePath(`http://example.com/${unit.repeat(300_000 / unit.length)}${end}`)
  expect(cpuMs() - began).toBeLessThan(500)
})
