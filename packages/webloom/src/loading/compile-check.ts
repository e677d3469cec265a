import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { strippedSource } from './stripped/strip-types.ts'
import { type SyntaxProblem, v8Problem } from './syntax-problem.ts'

const CHECK_TIMEOUT_MS = 10_000

/**
 * Returns what is wrong with a file that does not compile, or undefined when it does. V8 says where a mistake in a module is
 * only to a process that ends of it, so one is started: it costs a moment, once, in a run that has failed anyway.
 */
export function compileProblem(path: string, cause: unknown): SyntaxProblem | undefined {
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--check', '-'], {
    input: strippedSource(path),
    encoding: 'utf8',
    timeout: CHECK_TIMEOUT_MS,
    // What it holds is meant for the crawl: a debugger, say, or a loader.
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  const message = /^SyntaxError: (.*)$/m.exec(stderr)?.[1]
  const [, line] = /^\[stdin\]:(\d+)$/m.exec(stderr) ?? []
  if (message === undefined || line === undefined) return undefined
  const carets = stderr.split('\n').find((text) => /^\s*\^+\s*$/.test(text))
  const place = {
    path,
    line: Number(line),
    column: carets === undefined ? undefined : carets.indexOf('^') + 1,
  }
  return v8Problem(message, place, readFileSync(path, 'utf8'), cause)
}
