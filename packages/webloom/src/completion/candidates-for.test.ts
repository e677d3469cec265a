import { mkdirSync, writeFileSync } from 'node:fs'
import { tempDir } from '@webloom/testkit'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandLine } from '../cli.ts'
import { candidatesFor } from './candidates-for.ts'
import { placeholderOf, sourceOf } from './placeholders.ts'
import { spiderNames } from './project-spiders.ts'
import { shellWords } from './shell-words.ts'

const program = commandLine(() => {})
const valuesFor = (line: string) => candidatesFor(program, shellWords(line)).values.map(([value]) => value)

describe('what a word may become', () => {
  test.each([
    ['cra', ['crawl']],
    ['help cra', ['crawl']],
    ['dupefilter ', ['has', 'add', 'rm', 'stats', 'help']],
    ['crawl quotes --log', ['--loglevel', '--logfile']],
    ['crawl quotes --nolog --no', []],
    ['crawl quotes -s A=1 --se', ['--set']],
    ['crawl quotes -L W', ['WARNING']],
    ['crawl quotes --loglevel=E', ['--loglevel=ERROR']],
    ['crawl quotes -s CONCURRENT_REQUESTS_PER_D', ['CONCURRENT_REQUESTS_PER_DOMAIN=']],
    ['crawl quotes -s LOG_FORMAT=p', ['LOG_FORMAT=pretty']],
    ['crawl quotes -s COOKIES_ENABLED=', ['COOKIES_ENABLED=true', 'COOKIES_ENABLED=false']],
    ['crawl quotes -s DUPEFILTER_CLASS=redis-s', ['DUPEFILTER_CLASS=redis-set']],
    ['settings -s A=1 --ex', ['--explain']],
    ['settings --explain DOWNLOAD_MAXS', ['DOWNLOAD_MAXSIZE']],
    ['genspider -t s', ['sitemap']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['export quotes --to ', ['scrapy-redis']],
    ['bench ', ['--pages', '--rounds', '--json', '--help']],
    ['crawl -- --se', []],
    ['no-such-command ', []],
    ['__compl', []],
  ])('%s', (line, expected) => {
    expect(valuesFor(line)).toEqual(expected)
  })

  test('files stand where a file may, and an option’s value is not taken for the argument', () => {
    const filesFor = (line: string) => candidatesFor(program, shellWords(line)).files
    expect(['crawl q -o ', 'crawl q --logfile=', 'runspider ', 'import '].map(filesFor)).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(['crawl q -L ', 'list ', 'dupefilter has q '].map(filesFor)).toEqual([false, false, false])
    // A page may be a file, a Redis may not.
    expect(['fetch ', 'dash --redis ', 'mcp --redis '].map(filesFor)).toEqual([true, false, false])
    expect(valuesFor('import scrapy-redis -L INFO ')).not.toContain('scrapy-redis')
  })

  test('of every placeholder of the command line it is known what it stands for', () => {
    const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)]
    const placeholders = all(program).flatMap((command) =>
      [
        ...command.options.flatMap((option) => placeholderOf(option) ?? []),
        ...command.registeredArguments.map((argument) => argument.name()),
      ].map((name) => ({ name, command: command.name() })),
    )
    expect(placeholders.length).toBeGreaterThan(60)
    const unknown = placeholders.filter(({ name, command }) => name !== 'words' && !sourceOf(name, command))
    expect([...new Set(unknown)]).toEqual([])
  })
})

test('a line is split as a shell does, and what is being typed comes last', () => {
  expect(shellWords('webloom  crawl q')).toEqual(['webloom', 'crawl', 'q'])
  expect(shellWords('a ')).toEqual(['a', ''])
  expect(shellWords('')).toEqual([''])
  expect(shellWords(`a 'b c' "d \\"e" f\\ g 'h i`)).toEqual(['a', 'b c', 'd "e', 'f g', 'h i'])
  expect(shellWords('-s X="a b')).toEqual(['-s', 'X=a b'])
})

test('spiders are found by their files, of which none is run', async () => {
  await using folder = await tempDir()
  const spider = (fields: string) =>
    `throw new Error('run')\nexport default class Made extends Spider {\n  ${fields}\n}\n`
  mkdirSync(folder.join('deep/er'), { recursive: true })
  mkdirSync(folder.join('more/below'), { recursive: true })
  expect(spiderNames(folder.join('deep'))).toEqual([])
  writeFileSync(
    folder.join('webloom.config.ts'),
    "throw new Error('run')\nexport default { spiders: ['deep', './more/one.ts', 'gone'] }",
  )
  writeFileSync(folder.join('deep/a.ts'), spider("override readonly name: string = 'quotes'"))
  writeFileSync(folder.join('deep/er/b.js'), `${spider('name = "books"')}${spider("name = 'authors'")}`)
  writeFileSync(folder.join('deep/c.test.ts'), spider("name = 'tried'"))
  writeFileSync(folder.join('more/one.ts'), spider("name = 'one'"))
  writeFileSync(folder.join('more/two.ts'), spider("name = 'two'"))
  expect(spiderNames(folder.join('more/below'))).toEqual(['authors', 'books', 'one', 'quotes'])
})
