import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { headingsOf } from '../../../site/source/markdown.ts'
import { matches, pagesOf } from '../files/source-files.ts'

// What stands in backticks and begins like a path of this repository is meant as one; * stands for any name.
const PATH = /`((?:packages|docs|tests|examples|benchmarks|scripts|site|\.ci)\/[\w./-]*)`/g
const LINK = /\]\((?!https?:|mailto:)([^)\s]+)\)/g

/** Links and paths that point at nothing: no file, or no heading of a page. */
export function linkProblems(root: string): string[] {
  return pagesOf(root).flatMap(({ path: page, text }) => {
    const links = matches(text, LINK).map((link) => link.split('#') as [string, string?])
    const files = [
      ...links.map(([target]) => [target, target === '' ? page : join(dirname(page), target)] as const),
      ...matches(text, PATH).map((path) => [path, path] as const),
    ]
    const anchors = links.flatMap(([target, anchor]) => {
      const path = target === '' ? page : join(dirname(page), target)
      return anchor === undefined || !path.endsWith('.md') ? [] : [{ target, anchor, path }]
    })
    return [
      ...files
        .filter(([, path]) => !existsSync(join(root, path)))
        .map(([target]) => `${page} points at ${target}, which is not there`),
      ...anchors
        .filter(({ path, anchor }) => existsSync(join(root, path)) && !hasHeading(join(root, path), anchor))
        .map(
          ({ target, anchor }) => `${page} points at ${target}#${anchor}, and no heading there has that name`,
        ),
    ]
  })
}

function hasHeading(path: string, anchor: string): boolean {
  return headingsOf(readFileSync(path, 'utf8')).some((heading) => heading.anchor === anchor)
}
