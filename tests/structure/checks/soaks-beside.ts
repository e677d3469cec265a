import { posix } from 'node:path'
import { sourceFiles } from '../files/source-files.ts'

/** What leaves cases to the soaks: of `@webloom/testkit`, and of tests/setup/soaks.ts. */
const LEAVES = /\b(?:IN_FULL|inFull|casesOf|testIf|inSoaks)\b/
const IMPORT = /^import (?:[^']* from )?'(\.[^']+\.test\.ts)'/gm

/** Tests that leave cases to the soaks, and that no soak imports: nothing tries those cases. */
export function soakProblems(root: string): string[] {
  const tests = sourceFiles(root, '{tests,examples,packages/*/src}/**/*.test.ts').filter(
    ({ path }) => !path.startsWith('tests/structure/'),
  )
  const isSoak = ({ path }: { readonly path: string }) => path.endsWith('.soak.test.ts')
  const imported = new Set(
    tests
      .filter(isSoak)
      .flatMap(({ path, text }) =>
        [...text.matchAll(IMPORT)].map(([, file]) => posix.join(posix.dirname(path), file!)),
      ),
  )
  return tests
    .filter((test) => !isSoak(test) && LEAVES.test(test.text) && !imported.has(test.path))
    .map(({ path }) => `${path} leaves cases to the soaks, and no *.soak.test.ts imports it`)
}
