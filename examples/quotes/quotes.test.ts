import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { runProcess, startProcess, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authors } from './site/authors.ts'
import { quotes, tags } from './site/quotes.ts'
import { type Site, startSite } from './site/site.ts'

describe('the site', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  })
  afterAll(() => site.close())

  test('every link of every page answers 200', async () => {
    const answers = await walk(site.url)
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    const paths = answers.map(({ path }) => path)
    expect(paths).toEqual(expect.arrayContaining(['/page/6/', '/tag/patience/page/2/', '/style.css']))
    expect(paths.filter((path) => path.startsWith('/author/')).length).toBe(1 + Object.keys(authors).length)
  })

  test('what is not there answers 404, with the path escaped', async () => {
    const response = await fetch(`${site.url}nowhere/<b>&'`)
    expect(response.status).toBe(404)
    expect(await response.text()).toContain('/nowhere/%3Cb%3E&amp;&#39;')
  })

  test('a page is also found without its last slash', async () => {
    const response = await fetch(`${site.url}tag/rivers`)
    expect(new URL(response.url).pathname).toBe('/tag/rivers/')
  })

  test.each([
    ['', 'text/html; charset=utf-8'],
    ['robots.txt', 'text/plain; charset=utf-8'],
    ['style.css', 'text/css; charset=utf-8'],
    ['favicon.svg', 'image/svg+xml'],
  ])('/%s is %s', async (path, type) => {
    const response = await fetch(site.url + path, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(type)
  })

  test('no two quotes are the same', () => {
    expect(new Set(quotes.map(({ text }) => text)).size).toBe(quotes.length)
  })
})

describe('npm start', () => {
  test('writes each quote, each author and each tag once, and tells what to try next', async () => {
    await using folder = await tempDir()
    const { code, stdout, stderr } = await runProcess(process.execPath, [main], { cwd: folder.path })
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('What to try next')

    const items = await itemsIn(folder.join('quotes.jsonl'))
    expect(valuesOf(items, 'quote', 'text')).toEqual(quotes.map(({ text }) => text).toSorted())
    expect(valuesOf(items, 'author', 'name')).toEqual(
      Object.values(authors)
        .map(({ name }) => name)
        .toSorted(),
    )
    expect(valuesOf(items, 'tag', 'name').length).toBe(Object.keys(tags).length)
    expect(items.find(({ name }) => name === 'Teodor Halvick')).toEqual({
      kind: 'author',
      name: 'Teodor Halvick',
      trade: 'Ferryman',
      born: '1881-04-19',
      place: 'Brannock Ferry',
    })
    expect(items.filter(({ kind }) => kind === 'tag')).toContainEqual({
      kind: 'tag',
      name: 'patience',
      quotes: 9,
    })
  })

  test('SIGTERM stops the crawl and the site', async () => {
    await using folder = await tempDir()
    await using start = startProcess(process.execPath, [main], { cwd: folder.path })
    const [, url] = await start.waitForOutput(/served at (\S+)/)
    await start.waitForOutput(/Crawling it/)
    start.kill('SIGTERM')
    expect((await start.exited).code).toBe(143)
    await expect(fetch(url!)).rejects.toThrow()
  })
})

const main = path.join(import.meta.dirname, 'main.ts')

interface Answer {
  readonly path: string
  readonly status: number
}

/** Every address that is linked within the site, and how it answers. */
async function walk(start: string): Promise<Answer[]> {
  const met = new Set([start])
  const answers: Answer[] = []
  // A set gives out what is added to it while it is walked through.
  for (const url of met) {
    const response = await fetch(url, { redirect: 'manual' })
    const text = await response.text()
    answers.push({ path: new URL(url).pathname, status: response.status })
    for (const [, href] of text.matchAll(/\shref="([^"]*)"/g)) met.add(new URL(href!, url).href)
  }
  return answers
}

type Item = Readonly<Record<string, unknown>>

async function itemsIn(file: string): Promise<Item[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Item)
}

function valuesOf(items: readonly Item[], kind: string, field: string): string[] {
  return items
    .filter((item) => item.kind === kind)
    .map((item) => String(item[field]))
    .toSorted()
}
