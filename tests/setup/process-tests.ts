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
  /\b(?:worker_threads|globalThis\b(?!\.Response\b))|\bvi\.(?!fn\b|waitFor\b|waitUntil\b|(?:advance|setSystem|useReal)Time|useFakeTimers\(\{ toFake: \['(?:Date|performance)'\]|spyOn\((?!Date|Math|process|console)\w)|(?<![/#-])\bprocess\.(?:env\.\w+ = |(?!(?:arch|close|cwd|env|every|execPath|getuid|hrtime|kill|memoryUsage|pid|platform|resourceUsage|uptime|versions?)\b)[a-z])/

/** Paths from the root, of those that the patterns match. */
export function processTests(patterns: readonly string[]): string[] {
  return testsOf(patterns).filter((path) => has(STARTS, join(ROOT, path), new Set()))
}

/** The same, of those that run one after the other in one process: to start one for each takes longer than most of them. */
export function sharingTests(patterns: readonly string[]): string[] {
  return testsOf(patterns).filter((path) => !has(OF_THE_PROCESS, join(ROOT, path), new Set()))
}

function testsOf(patterns: readonly string[]): string[] {
  return globSync([...patterns], {
    cwd: ROOT,
    exclude: ['**/node_modules/**', '**/dist/**', '**/fixtures/**'],
  })
    .filter((path) => !path.includes('.soak.'))
    .sort()
}

/** In the file itself, or in what it imports from `tests/` and a package's `testing/`. */
function has(what: RegExp, path: string, seen: Set<string>): boolean {
  if (seen.has(path)) return false
  seen.add(path)
  const text = readFileSync(path, 'utf8')
  if (what.test(text)) return true
  return [...text.matchAll(IMPORTS)]
    .map(([, file]) => join(dirname(path), file!))
    .some((file) => OF_TESTS.test(file) && file.endsWith('.ts') && has(what, file, seen))
}
