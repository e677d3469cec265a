/**
 * What `webloom completion zsh` and `fish` print, in these shells on a terminal: keys, Tab, and the line that stands there then; and all
 * lines of completion.test.ts.
 */

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProcess, startProcess, type TempDir, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import './completion.test.ts'

const PACKAGE = join(import.meta.dirname, '../../packages/webloom')

const LINES = [
  ['webloom cra', 'webloom crawl '],
  ['webloom crawl quo', 'webloom crawl quotes '],
  ['webloom crawl "quo', 'webloom crawl "quotes" '],
  ['webloom crawl two', 'webloom crawl two\\ words '],
  ['webloom crawl quotes -s LOG_LEVEL=D', 'webloom crawl quotes -s LOG_LEVEL=DEBUG '],
  // Behind = a value follows, without a blank.
  [
    'webloom crawl quotes -s CONCURRENT_REQUESTS_PER_D',
    'webloom crawl quotes -s CONCURRENT_REQUESTS_PER_DOMAIN=',
  ],
  ['webloom crawl quotes --logl', 'webloom crawl quotes --loglevel '],
  ['webloom dupefilter ha', 'webloom dupefilter has '],
  // The shell's own files, where one may stand.
  ['webloom runspider spiders/q', 'webloom runspider spiders/q.ts '],
  ['webloom crawl quotes --logfile ou', 'webloom crawl quotes --logfile out.log '],
  ['webloom crawl quotes --logfile=ou', 'webloom crawl quotes --logfile=out.log '],
] as const

/** Ctrl-T: the shell writes the line down and empties it. */
const NOTE = '\x14'

const ZSHRC = `PS1='ready> '
autoload -Uz compinit && compinit -u -D
source <(webloom completion zsh)
note() { print -r -- "$BUFFER" >> lines; BUFFER='' }
zle -N note
bindkey '^T' note
`
const FISH = `function fish_prompt
    echo 'ready> '
end
function note
    commandline >> lines
    commandline ''
end
bind \\ct note
`

test.each([
  [
    'zsh',
    async (folder: TempDir) => {
      writeFileSync(folder.join('.zshrc'), ZSHRC)
      return 'zsh -i'
    },
  ],
  [
    'fish',
    async (folder: TempDir) => {
      mkdirSync(folder.join('.config/fish/completions'), { recursive: true })
      writeFileSync(folder.join('.config/fish/config.fish'), FISH)
      const { stdout } = await runProcess(join(PACKAGE, 'bin/webloom.js'), ['completion', 'fish'])
      writeFileSync(folder.join('.config/fish/completions/webloom.fish'), stdout)
      return 'fish -i'
    },
  ],
])(
  '%s completes commands, spiders, options, settings and their values, and files',
  async (shell, prepare) => {
    const known = await runProcess('sh', ['-c', `command -v script && command -v ${shell}`])
    expect(known.code, `${shell} or script is missing:  apt-get install -y ${shell} bsdutils`).toBe(0)
    await using folder = await tempDir()
    mkdirSync(folder.join('spiders'))
    writeFileSync(folder.join('out.log'), '')
    writeFileSync(folder.join('webloom.config.ts'), 'export default {}\n')
    writeFileSync(folder.join('spiders/q.ts'), "export class Q extends Spider {\n  name = 'quotes'\n}\n")
    writeFileSync(
      folder.join('spiders/two.ts'),
      "export class Two extends Spider {\n  name = 'two words'\n}\n",
    )
    mkdirSync(folder.join('bin'))
    symlinkSync(join(PACKAGE, 'bin/webloom.js'), folder.join('bin/webloom'))
    const line = await prepare(folder)
    await using terminal = startProcess('script', ['-qfec', line, '/dev/null'], {
      cwd: folder.path,
      env: {
        HOME: folder.path,
        ZDOTDIR: folder.path,
        XDG_CONFIG_HOME: folder.join('.config'),
        XDG_DATA_HOME: folder.join('.data'),
        TERM: 'xterm',
        PATH: `${folder.join('bin')}:${join(process.execPath, '..')}:${process.env.PATH}`,
      },
    })
    await terminal.waitForOutput(/ready> /, 60_000)
    for (const [typed] of LINES) {
      terminal.write(`${typed}\t${NOTE}`)
    }
    terminal.write('exit\r')
    await terminal.exited
    const lines = existsSync(folder.join('lines')) ? readFileSync(folder.join('lines'), 'utf8') : ''
    expect(lines.split('\n').slice(0, -1), terminal.stdout).toEqual(LINES.map(([, completed]) => completed))
  },
)
