import { readFileSync } from 'node:fs'
import { tempDir } from '@webloom/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startWebloom } from '../../tests/projects/command-hosts.ts'
import { authors } from '../quotes/site/authors.ts'
import { quotes } from '../quotes/site/quotes.ts'
import { type Site, startSite } from './site/site.ts'

let site: Site
beforeEach(async () => {
  site = await startSite()
})
afterEach(() => site.close())

/** Runs the command in the project and gives what it wrote. */
async function crawl(spider: string, ...words: string[]): Promise<Record<string, unknown>[]> {
  await using folder = await tempDir()
  const output = folder.join('items.jsonl')
  const line = ['crawl', spider, '-a', `site=${site.url}`, '-O', output, ...words]
  const { code, stderr } = await startWebloom(line, { cwd: import.meta.dirname, timeoutMs: 60_000 }).exited
  expect(code, stderr).toBe(0)
  const lines = readFileSync(output, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** Whom the requests said to write to: the project's own middleware sets it. */
const contacts = () => [...new Set(site.requests.map(({ from }) => from))]
const contactAt = (order: number | null) =>
  `DOWNLOADER_MIDDLEWARES=${JSON.stringify([['./middlewares/contact.ts#Contact', order]])}`

test('quotes: each one of every page; every request has the config’s contact', async () => {
  const items = await crawl('quotes')
  const expected = quotes.map(({ text, author, tags }) => ({
    text: `“${text}”`,
    author: authors[author].name,
    tags,
  }))
  expect(items).toHaveLength(expected.length)
  expect(items).toEqual(expect.arrayContaining(expected))
  expect(contacts()).toEqual(['crawler@example.com'])
})

test('quotes with -a tag: those with the tag; the command line takes the middleware out', async () => {
  const items = await crawl('quotes', '-a', 'tag=patience', '-s', contactAt(null))
  const expected = quotes.filter(({ tags }) => tags.includes('patience')).map(({ text }) => `“${text}”`)
  expect(items.map(({ text }) => text).toSorted()).toEqual(expected.toSorted())
  expect(contacts()).toEqual([undefined])
})

test('author: each author once; the command line names the middleware and its setting', async () => {
  const items = await crawl('author', '-s', contactAt(900), '-s', 'CUSTOM_CONTACT=me@example.com')
  const expected = Object.values(authors).map(({ name, born, life }) => ({
    name,
    birthdate: born,
    bio: life.join(' '),
  }))
  expect(items).toHaveLength(expected.length)
  expect(items).toEqual(expect.arrayContaining(expected))
  expect(contacts()).toEqual(['me@example.com'])
})
