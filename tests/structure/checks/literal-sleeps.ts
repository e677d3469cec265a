import { sourceFiles } from '../files/source-files.ts'

// `sleep(50)`, `setTimeout(500)` of node:timers/promises and `setTimeout(resolve, 50)`; a test that passes on a turn of the loop sleeps 0.
const SLEEP =
  /\b(?:sleep|wait|delay|pause)\((?:[1-9][\d_.]*[,)]|[A-Z][A-Z\d]*_)|await setTimeout\([1-9]|=> setTimeout\((?:resolve|done), [1-9]/
const COMMENT = /^\s*(?:\/\/|\*|\/\*)|\s\/\/ /

/**
 * Sleeps of a written number, or of a constant, that tell no reason, neither in their line nor in a comment above it. Where something can be
 * awaited, a test awaits it; where time itself is the subject, its reader is told.
 */
export function literalSleepProblems(root: string): string[] {
  return sourceFiles(root, '{tests,packages/*/{src,testing}}/**/*.ts')
    .filter(({ path }) => /\.test\.ts$|\/testing\/|\/contract\/|^tests\//.test(path))
    .filter(({ path }) => !path.startsWith('tests/structure/'))
    .flatMap(({ path, text }) => {
      const lines = text.split('\n')
      return lines.flatMap((line, at) =>
        SLEEP.test(line) && !COMMENT.test(line) && !COMMENT.test(lines[at - 1] ?? '')
          ? [`${path}:${at + 1} sleeps and does not say why: ${line.trim()}`]
          : [],
      )
    })
}
