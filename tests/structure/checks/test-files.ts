import { sourceFiles } from './source-files.ts'

/** As long as a file of sources may be before it has a second noun in it. */
const LINES_MAX = 400

/** Test files that are too long to find a test in. */
export function longTestProblems(root: string, linesMax = LINES_MAX): string[] {
  return sourceFiles(root, '{packages/*/src,tests,examples}/**/*.test.ts')
    .filter(({ path }) => !path.includes('/fixtures/'))
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > linesMax)
    .map(
      ({ path, lines }) => `${path} has ${lines} lines, and ${linesMax} are the most: split it by its nouns`,
    )
}
