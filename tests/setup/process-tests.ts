/**
 * Which test files start processes of ours, to talk with them or to kill them, and which can share the process that they run in: by
 * themselves, and by what they import from `tests/` and a package's `testing/`. The former run on clocks that the whole machine
 * shares, and are the only ones tried again.
 *
 * A file is tried again as a whole. So what starts processes stands in files of its own, which are named for it
 * (`*-processes.test.ts`, `*-processes.ts`): a race in a test that starts none is then never hidden by a second try.
 */

import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const STARTS = /\b(?:startProcess|runProcess|fork|spawn)\(/
const IMPORTS = /from '(\.[^']+)'/g
const OF_TESTS = /\/(?:tests|testing)\//

/**
 * What a process has once: a file that changes it has a process of its own. A clock that is set, and set back after the test, does
 * no harm to what others of the process have left, as timers do that are faked; a `process` with `every` or `close` is not Node's.
 */
const OF_THE_PROCESS =
  /\bglobalThis\b(?!\.Response\b)|\bvi\.(?!fn\b|waitFor\b|waitUntil\b|restoreAllMocks\b|(?:advance|setSystem|useReal)Time|useFakeTimers\(\{ toFake: \[\]|spyOn\((?!Date|Math|process|console)\w)|(?<!#)\bprocess\.(?:env\.\w+ = |(?!(?:arch|close|cwd|env|every|execPath|getuid|hrtime|kill|memoryUsage|pid|platform|resourceUsage|uptime|versions?)\b)[a-z])/
const HAS_THREADS = /from 'node:worker_threads'/

/** Paths from the root, of those that the patterns match. */
export function processTests(patterns: readonly string[]): string[] {
  return testsOf(patterns).filter((path) => has((text) => STARTS.test(text), join(ROOT, path), new Set()))
}

/** The same, of those that run one after the other in one process: to start one for each takes longer than most of them. */
export function sharingTests(patterns: readonly string[]): string[] {
  const isAlone = (text: string) => HAS_THREADS.test(text) || OF_THE_PROCESS.test(codeOf(text))
  return testsOf(patterns).filter((path) => !has(isAlone, join(ROOT, path), new Set()))
}

function testsOf(patterns: readonly string[]): string[] {
  return globSync([...patterns], {
    cwd: ROOT,
    exclude: ['**/node_modules/**', '**/dist/**', '**/fixtures/**'],
  })
    .filter((path) => !path.includes('.soak.'))
    .sort()
}

/** Without its strings: code in one is that of another process, and names of clocks are no more than names. */
function codeOf(text: string): string {
  return text
    .replaceAll(/'(?:Date|performance)'/g, '')
    .replaceAll(/`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'/gs, "''")
}

/** In the file itself, or in what it imports from `tests/` and a package's `testing/`. */
function has(what: (text: string) => boolean, path: string, seen: Set<string>): boolean {
  if (seen.has(path)) return false
  seen.add(path)
  const text = readFileSync(path, 'utf8')
  if (what(text)) return true
  return [...text.matchAll(IMPORTS)]
    .map(([, file]) => join(dirname(path), file!))
    .some((file) => OF_TESTS.test(file) && file.endsWith('.ts') && has(what, file, seen))
}
