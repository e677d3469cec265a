import { existsSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { outsideCode } from './markdown.ts'
import type { Page } from './pages.ts'

/** Where links of the repository's files lead in the site. */
export interface LinkTargets {
  readonly root: string
  /** By their source. */
  readonly pages: ReadonlyMap<string, Page>
  /** The repository on the web, for files that are no pages; without it the words of such a link stay and lead nowhere. */
  readonly repository?: string | undefined
}

/** A page as the site has it, and the files beside pages that it links or shows. */
export interface LinkedText {
  readonly text: string
  readonly files: readonly string[]
}

const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g

/** Turns links to files of the repository into links of the site. */
export function linked({ source, path, body }: Page, targets: LinkTargets): LinkedText {
  const files = new Set<string>()
  const turned = (whole: string, mark: string, words: string, target: string): string => {
    if (/^(?:[a-z]+:|#)/i.test(target)) return whole
    const [file = '', anchor] = target.split('#') as [string, string?]
    const from = posix.join(posix.dirname(source), file)
    const to = targets.pages.get(from)?.path ?? asset(targets.root, from)
    if (to !== undefined) {
      if (!targets.pages.has(from)) files.add(from)
      return `${mark}[${words}](${relativeTo(path, to)}${anchor === undefined ? '' : `#${anchor}`})`
    }
    return targets.repository === undefined ? words : `[${words}](${targets.repository}/blob/main/${from})`
  }
  // Words of a link may be code: links are looked for in the whole text outside of blocks.
  const text = body
    .split(/(^```[\s\S]*?^```[ \t]*$)/m)
    .map((part) => (part.startsWith('```') ? part : part.replaceAll(LINK, turned)))
    .join('')
  return { text: outsideCode(text, (code) => code, withoutBraces), files: [...files] }
}

/** Images, and data that a page of `docs/` offers, are part of the site. */
function asset(root: string, from: string): string | undefined {
  const full = join(root, from)
  const isOne = from.startsWith('docs/') && existsSync(full) && statSync(full).isFile()
  return isOne ? from.slice('docs/'.length) : undefined
}

export function relativeTo(path: string, target: string): string {
  const relative = posix.relative(posix.dirname(path), target)
  return relative.startsWith('.') ? relative : `./${relative}`
}

/** VitePress would take what stands between two braces for code to run. */
export function withoutBraces(text: string): string {
  return text.replaceAll('{{', '&#123;&#123;')
}
