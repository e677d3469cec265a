import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export interface SourceFile {
  /** Relative to the repository, with `/`. */
  readonly path: string
  readonly text: string
}

/** Patterns that have matched no file, by the root that they were asked for. */
const unmatched = new Map<string, Set<string>>()

/** Files below `root` that match, without what is built or installed. */
export function sourceFiles(root: string, pattern: string): SourceFile[] {
  const paths = globSync(pattern, {
    cwd: root,
    exclude: (name) => name === 'node_modules' || name === 'dist',
  })
  if (paths.length === 0) unmatched.set(root, (unmatched.get(root) ?? new Set()).add(pattern))
  return paths
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** Tells once of what checks have looked for below `root` and not found: such a check sees nothing, and passes. */
export function unseenFiles(root: string): string[] {
  const patterns = [...(unmatched.get(root) ?? [])]
  unmatched.delete(root)
  return patterns.map((pattern) => `a check looks for ${pattern}, and there is no such file`)
}

/** What packages are made of, pages of the dashboard (`.tsx`) among it; without tests and benchmarks beside it. */
export function packageSources(root: string, pattern = 'src/**/*.{ts,tsx}'): SourceFile[] {
  return sourceFiles(root, `packages/*/${pattern}`).filter(
    ({ path }) => !/\.(?:test|bench)\.tsx?$/.test(path),
  )
}

/** What people read about this repository. */
export function pagesOf(root: string): SourceFile[] {
  return sourceFiles(
    root,
    '{*.md,docs/**/*.md,{tests,benchmarks,examples}/**/README.md,packages/*/README.md}',
  ).filter(({ path }) => !path.startsWith('tests/structure/fixtures/'))
}

/** A file's text, or nothing when it is absent: then whatever it should hold is missing from it. */
export function textOf(root: string, path: string): string {
  const full = join(root, path)
  return existsSync(full) ? readFileSync(full, 'utf8') : ''
}

/** What stands in one list and not in the other, as sentences. */
export function differences(
  inCode: Iterable<string>,
  inDocs: Iterable<string>,
  what: string,
  page: string,
): string[] {
  const [code, docs] = [new Set(inCode), new Set(inDocs)]
  return [
    ...[...code].filter((name) => !docs.has(name)).map((name) => `${what} ${name} is missing from ${page}`),
    ...[...docs]
      .filter((name) => !code.has(name))
      .map((name) => `${page} has ${what} ${name}, which the code does not have`),
  ]
}

/** Every first group, or whole match, of a global pattern. */
export function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1] ?? match[0])
}

export function repositoryPath(root: string, path: string): string {
  return relative(root, path).replaceAll('\\', '/')
}
