/** What `webloom completion bash` prints, in a real bash: words are split as readline splits them, and only what it replaces is left. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProcess, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { inSoaks } from '../setup/soaks.ts'

const PACKAGE = join(import.meta.dirname, '../../packages/webloom')

test('bash completes commands, spiders, settings and their values, and files', async () => {
  await using folder = await tempDir()
  mkdirSync(folder.join('spiders'))
  writeFileSync(folder.join('webloom.config.ts'), 'export default {}\n')
  writeFileSync(folder.join('spiders/q.ts'), "export class Q extends Spider {\n  name = 'quotes'\n}\n")
  writeFileSync(
    folder.join('spiders/two.ts'),
    "class A {\n  name = 'two words'\n}\nclass B {\n  name = 'odd;touch x'\n}\n",
  )
  mkdirSync(folder.join('star'))
  for (const name of ['*.ts', 'a.ts']) writeFileSync(folder.join('star', name), '')
  mkdirSync(folder.join('names'))
  writeFileSync(folder.join('names/$(touch x)\'"`.ts'), '')
  symlinkSync(join(PACKAGE, 'bin/webloom.js'), folder.join('webloom'))
  // Each line takes a process.
  const lines: readonly (readonly [typed: string, completed: string])[] = [
    ['REDIS_URL=x webloom crawl quo', 'quotes'],
    ['webloom crawl quotes -s LOG_LEVEL=D', 'DEBUG'],
    // What a shell would read is quoted; a star among the names of files is not a pattern.
    ['webloom crawl odd', 'odd\\;touch\\ x'],
    ['webloom runspider star/', 'star/*.ts star/a.ts'],
    // Behind an open quotation mark what would end it, or mean something within it, is quoted for it; where it is closed all is.
    ["webloom crawl 'names/", "names/$(touch x)'\\''\"`.ts"],
    ...inSoaks(
      ['webloom cra', 'crawl'] as const,
      ['webloom runspider spiders/', 'spiders/q.ts spiders/two.ts'] as const,
      ['webloom crawl two', 'two\\ words'] as const,
      ['webloom crawl "names/', 'names/\\$(touch x)\'\\"\\`.ts'] as const,
      ['webloom crawl "names"/', 'names/\\$\\(touch\\ x\\)\\\'\\"\\`.ts'] as const,
    ),
  ]
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const script = `source <(webloom completion bash)
complete -p webloom
${lines.map(([line]) => `COMP_LINE=${quoted(line)} COMP_POINT=${line.length} COMP_WORDS=(webloom ${quoted(line.split(' ').at(-1)!)}) COMP_CWORD=1; _webloom 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd' '`).join('\n')}
`
  const { stdout, stderr } = await runProcess('bash', ['--norc', '-c', script], {
    cwd: folder.path,
    env: { PATH: `${folder.path}:${join(process.execPath, '..')}:${process.env.PATH}` },
  })
  expect(stdout.split('\n'), stderr).toEqual([
    'complete -F _webloom webloom',
    ...lines.map(([, completed]) => completed),
    '',
  ])
})
