/** What the README and the guide to projects show is run: the spider, against pages shaped like those of the site it names. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProcess, startFakeWeb, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'

const ROOT = join(import.meta.dirname, '../..')
const text = ['README.md', 'docs/guides/project.md']
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
  .join('')
const blocks = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!)
const blockWith = (part: string) => blocks.find((code) => code.includes(part))!

const page = (quotes: readonly string[], next?: string) =>
  `<title>Quotes</title>${quotes.map((text) => `<div class="quote"><span class="text">${text}</span><small class="author">A. Nonym</small></div>`).join('')}${next ? `<li class="next"><a href="${next}">Next</a></li>` : ''}`

test('the README’s spider, and the config and the call of the guide work as they stand, but for the address', async () => {
  await using web = await startFakeWeb({ pagesPerHost: 1 })
  await using folder = await tempDir()
  web.route(null, '/quotes', (_, res) =>
    res.setHeader('content-type', 'text/html').end(page(['one', 'two'], '/quotes/2')),
  )
  web.route(null, '/quotes/2', (_, res) => res.setHeader('content-type', 'text/html').end(page(['three'])))
  mkdirSync(folder.join('node_modules'))
  symlinkSync(join(ROOT, 'packages/webloom'), folder.join('node_modules/webloom'))
  mkdirSync(folder.join('spiders'))
  const spider = blockWith('class QuotesSpider').replace(
    'https://quotes.toscrape.com/',
    `${web.origins[0]}/quotes`,
  )
  writeFileSync(folder.join('spiders/spider.ts'), spider)
  writeFileSync(folder.join('webloom.config.ts'), blockWith('defineConfig'))
  writeFileSync(
    folder.join('run.ts'),
    blockWith('await crawl(').replace('./spider.ts', './spiders/spider.ts') +
      'console.log(finishReason, stats.item_scraped_count)\n',
  )
  writeFileSync(folder.join('package.json'), '{ "type": "module" }')

  await using line = new CommandLine()
  const alone = await line.run(['runspider', 'spiders/spider.ts', '-o', 'quotes.jsonl'], { cwd: folder.path })
  expect(alone.code, alone.stderr).toBe(0)
  expect(
    readFileSync(folder.join('quotes.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { text: string }).text),
  ).toEqual(['one', 'two', 'three'])
  const project = await line.run(['crawl', 'quotes'], { cwd: folder.path })
  expect(project.code, project.stderr).toBe(0)
  const called = await runProcess(process.execPath, ['run.ts'], { cwd: folder.path, env: { ...process.env } })
  expect(called.stdout, called.stderr).toBe('finished 3\n')
})
