/** What `webloom completion bash` prints, in a real bash: words are split as readline splits them, and only what it replaces is left. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProcess, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'

const PACKAGE = join(import.meta.dirname, '../packages/webloom')

test('bash completes commands, spiders, settings and their values, and files', async () => {
  await using folder = await tempDir()
  mkdirSync(folder.join('spiders'))
  writeFileSync(folder.join('webloom.config.ts'), 'export default {}\n')
  writeFileSync(folder.join('spiders/q.ts'), "export class Q extends Spider {\n  name = 'quotes'\n}\n")
  symlinkSync(join(PACKAGE, 'bin/webloom.js'), folder.join('webloom'))
  const lines = [
    'webloom cra',
    'REDIS_URL=x webloom crawl quo',
    'webloom crawl quotes -s LOG_LEVEL=D',
    'webloom runspider spiders/',
  ]
  const script = `source <(webloom completion bash)
complete -p webloom
${lines.map((line) => `COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=(webloom); _webloom 2>/dev/null; echo "\${COMPREPLY[*]}"`).join('\n')}
`
  const { stdout, stderr } = await runProcess('bash', ['--norc', '-c', script], {
    cwd: folder.path,
    env: { PATH: `${folder.path}:${join(process.execPath, '..')}:${process.env.PATH}` },
  })
  expect(stdout.split('\n'), stderr).toEqual([
    'complete -F _webloom webloom',
    'crawl',
    'quotes',
    'DEBUG',
    'spiders/q.ts',
    '',
  ])
})
