import { sourceFiles, textOf } from '../files/source-files.ts'

/** As long as a file may be before a second noun is in it. */
const LINES_MAX = 400

/** What a reader takes in before the first file of code. */
const WORDS_MAX = 1620

const FILES = '{packages/*/{src,testing},tests,examples,site,scripts,benchmarks}/**/*.{ts,tsx}'

/**
 * Files that are too long, tests and all.
 *
 * @param known files that were too long when this was first looked at, or are written by a program. One that has become short
 *   is no longer to be named
 */
export function fileLengthProblems(
  root: string,
  known: readonly string[] = [],
  linesMax = LINES_MAX,
): string[] {
  const long = sourceFiles(root, FILES)
    .filter(({ path }) => !path.includes('/fixtures/'))
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > linesMax)
  const paths = long.map(({ path }) => path)
  return [
    ...long
      .filter(({ path }) => !known.includes(path))
      .map(
        ({ path, lines }) =>
          `${path} has ${lines} lines, and ${linesMax} are the most: split it by its nouns`,
      ),
    ...known
      .filter((path) => !paths.includes(path))
      .map((path) => `${path} is no longer than others: it need not be named in the test`),
  ]
}

/** The map of the house, when it has become so long that it wants a map. */
export function mapLengthProblems(root: string, wordsMax = WORDS_MAX): string[] {
  const words = textOf(root, 'ARCHITECTURE.md').split(/\s+/).filter(Boolean).length
  return words > wordsMax
    ? [`ARCHITECTURE.md has ${words} words, and ${wordsMax} are the most: what is told elsewhere too?`]
    : []
}
