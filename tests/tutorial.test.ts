/** The tutorial: each step's spider is run as the page has it, on the site that the page says is beside it, and gives the items shown. */

import { copyFileSync, globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { runProcess, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { codeBlocks } from './docs-code.ts'

const ROOT = join(import.meta.dirname, '..')
const CLI = join(ROOT, 'packages/webloom/bin/webloom.js')

/** Lines of items.jsonl on a page; with `: …` only those that hold this. */
const SHOWN = /<!-- items(?:: (?<having>.+?))? -->\n```\n(?<lines>[\s\S]*?)^```$/gm

const steps = globSync('docs/tutorial/*.md', { cwd: ROOT })
  .sort()
  .flatMap((page) => {
    const markdown = readFileSync(join(ROOT, page), 'utf8')
    const spider = codeBlocks(page, markdown).find(({ code }) => code.startsWith('// spider.ts\n'))
    const beside = /<!-- beside its code: (\S+) -->/.exec(markdown)?.[1]
    const shown = [...markdown.matchAll(SHOWN)].map(({ groups }) => groups!)
    return spider && beside ? [{ page, spider: spider.code, beside, shown }] : []
  })

test.each(steps.map((step) => [step.page, step] as const))(
  'the spider of %s gives the items that it shows',
  async (_, { spider, beside, shown }) => {
    await using folder = await tempDir()
    symlinkSync(join(ROOT, 'node_modules'), folder.join('node_modules'))
    writeFileSync(folder.join('package.json'), '{ "type": "module" }')
    writeFileSync(folder.join('spider.ts'), spider.replace('setTimeout(1000)', 'setTimeout(1)'))
    copyFileSync(join(ROOT, beside), folder.join(basename(beside)))
    const command = [CLI, 'runspider', 'spider.ts', '-O', 'items.jsonl', '-s', 'DUPEFILTER_CLASS=memory']
    const { code, stderr } = await runProcess(process.execPath, command, { cwd: folder.path })
    expect(code, stderr).toBe(0)
    const items = readFileSync(folder.join('items.jsonl'), 'utf8').trimEnd().split('\n')
    for (const { lines, having = '' } of shown) {
      const expected = lines!.trimEnd().split('\n')
      expect(items.filter((item) => item.includes(having)).slice(0, expected.length)).toEqual(expected)
    }
  },
)

test('every step but the last has a spider', () => {
  expect(steps.map(({ page }) => basename(page, '.md'))).toEqual([
    'bloom',
    'first-spider',
    'items',
    'links',
    'workers',
  ])
})
