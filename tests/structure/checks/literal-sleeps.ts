import { sourceFiles } from '../files/source-files.ts'

// `sleep(…)` and `setTimeout(…)` of node:timers/promises, and `setTimeout(resolve, …)`, for whatever time; 0 is a turn of the loop.
const TIMER = /(?<![.\w])(?:sleep\(|await setTimeout\()(?!0[,)])|=> (?:void )?setTimeout\(\w+, (?!0[,)])/
// A function of the tests that sleeps, with a number or a constant.
const CALL = /(?<![.\w])(?:wait|delay|pause)\((?:[1-9][\d_.]*[,)]|[^)]*\b[A-Z][A-Z\d]*_)/
const COMMENT = /^\s*(?:\/\/|\*|\/\*)/
const REASON = /(?:\/\/|\*) Waits: \S/

/**
 * Sleeps of tests that tell no reason: `// Waits: so long a page takes.`, in their line or in the comment above it. Where something can
 * be awaited, a test awaits it; where time itself is the subject, its reader is told so.
 */
export function literalSleepProblems(root: string): string[] {
  return sourceFiles(root, '{tests,packages/*/{src,testing}}/**/*.ts')
    .filter(({ path }) => /\.test\.ts$|\/testing\/|\/contract\/|^tests\//.test(path))
    .filter(({ path }) => !path.startsWith('tests/structure/'))
    .flatMap(({ path, text }) => {
      const lines = text.split('\n')
      return lines.flatMap((line, at) =>
        isSleep(line) && !REASON.test(withCommentAbove(lines, at))
          ? [`${path}:${at + 1} sleeps without a comment "// Waits: …" that says why: ${line.trim()}`]
          : [],
      )
    })
}

function isSleep(line: string): boolean {
  return (TIMER.test(line) || CALL.test(line)) && !COMMENT.test(line) && !line.startsWith('import ')
}

function withCommentAbove(lines: readonly string[], at: number): string {
  const code = lines.slice(0, at).findLastIndex((line) => !COMMENT.test(line))
  return lines.slice(code + 1, at + 1).join('\n')
}
