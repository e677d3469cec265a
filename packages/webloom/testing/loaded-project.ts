import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeEach } from 'vitest'

const ENTRY = fileURLToPath(new URL('../testdata/ask-loading.mjs', import.meta.url))
const OPTIONS = ['--conditions=webloom-source']
/** The first question also waits for the process to start. */
const ANSWERS_WITHIN_MS = 60_000

export interface Answer {
  readonly value?: unknown
  readonly code?: string
  readonly message?: string
  readonly stderr?: string
}

/** A file with a spider. */
export const SPIDER = `import { Spider } from 'webloom'
export default class Quotes extends Spider {
  name: string = 'quotes'
}
`

/**
 * For each test of a file a project of real files that a Node of its own loads: vitest would load TypeScript in its own
 * way. One process serves the whole file.
 */
export function projectOfFile() {
  let folder = ''
  let loader: ChildProcess | undefined
  afterAll(() => loader?.kill())
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'webloom-loading-')))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  function write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
  }

  /** Evaluates an expression in a process whose current folder is the project. */
  async function ask(expression: string): Promise<Answer> {
    loader ??= fork(ENTRY, { execArgv: OPTIONS })
    const asked = loader
    const answered = once(asked, 'message', { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) })
    asked.send({ folder, expression })
    try {
      const [answer] = await answered
      return JSON.parse(answer as string) as Answer
    } catch (error) {
      // What it still answers would be taken for the answer to the next question.
      asked.kill()
      loader = undefined
      throw new Error(`no answer within ${ANSWERS_WITHIN_MS} ms to ${expression}`, { cause: error })
    }
  }

  /** The same in a process that has loaded nothing yet. */
  async function askAlone(expression: string): Promise<Answer> {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...OPTIONS, ENTRY, expression], {
      cwd: folder,
    })
    return { ...(JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Answer), stderr }
  }

  const loading = (file: string) => `importProjectFile(process.cwd() + '/${file}', 'WL_SPIDER_LOAD')`
  return {
    get folder(): string {
      return folder
    },
    write,
    ask,
    askAlone,
    loading,
    load: (file: string) => ask(loading(file)),
    loadAlone: (file: string) => askAlone(loading(file)),
  }
}
