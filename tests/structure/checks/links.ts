import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { matches, pagesOf } from './source-files.ts'

// What stands in backticks and begins like a path of this repository is meant as one; * stands for any name.
const PATH = /`((?:packages|docs|tests|examples|benchmarks|scripts|\.ci)\/[\w./-]*)`/g
const LINK = /\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g

/** Links and paths that point at nothing. */
export function linkProblems(root: string): string[] {
  return pagesOf(root).flatMap(({ path: page, text }) => {
    const targets = [
      ...matches(text, LINK).map((target) => [target, join(dirname(page), target)] as const),
      ...matches(text, PATH).map((path) => [path, path] as const),
    ]
    return targets
      .filter(([, path]) => !existsSync(join(root, path)))
      .map(([target]) => `${page} points at ${target}, which is not there`)
  })
}
