import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { filePath } from './file-path.ts'

// By Scrapy's FilesPipeline.file_path, with Python's own table of types and the guessing of Python 3.13.
const vectors: Record<string, string> = JSON.parse(
  readFileSync(new URL('../../testdata/scrapy-file-paths.json', import.meta.url), 'utf8'),
)

test.each(Object.entries(vectors))('%s', (url, path) => {
  expect(filePath(url)).toBe(path)
})
