/**
 * Which test files start processes of ours, to talk with them or to kill them: by themselves, or by what they import from
 * `tests/` and a package's `testing/`. They run on clocks that the whole machine shares, and are the only ones tried again.
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

/** Paths from the root, of those that the patterns match. */
export function processTests(patterns: readonly string[]): string[] {
  return globSync([...patterns], {
    cwd: ROOT,
    exclude: ['**/node_modules/**', '**/dist/**', '**/fixtures/**'],
  })
    .filter((path) => !path.includes('.soak.') && startsProcesses(join(ROOT, path), new Set()))
    .sort()
}

function startsProcesses(path: string, seen: Set<string>): boolean {
  if (seen.has(path)) return false
  seen.add(path)
  const text = readFileSync(path, 'utf8')
  if (STARTS.test(text)) return true
  return [...text.matchAll(IMPORTS)]
    .map(([, file]) => join(dirname(path), file!))
    .some((file) => OF_TESTS.test(file) && file.endsWith('.ts') && startsProcesses(file, seen))
}
