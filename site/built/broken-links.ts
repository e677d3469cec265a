import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { unescaped } from '../source/html-text.ts'

const LINK = /<(a|link|img|script)\b[^>]*? (?:href|src)="([^"]*)"/g
const ID = /\sid="([^"]+)"/g
const OUTSIDE = /^(?:[a-z]+:)?\/\//i

/**
 * Links of a built site that lead to no file of it, or to no part of a page; and whatever a page would load from elsewhere,
 * as the site works without a network.
 */
export function brokenLinks(dist: string): string[] {
  const pages = globSync('**/*.html', { cwd: dist }).map((path) => path.replaceAll('\\', '/'))
  const ids = new Map<string, ReadonlySet<string>>()
  const idsOf = (path: string) => {
    const known = ids.get(path) ?? readIds(join(dist, path))
    ids.set(path, known)
    return known
  }
  return pages.flatMap((page) => {
    const html = readFileSync(join(dist, page), 'utf8')
    const links = [...html.matchAll(LINK)].map(([, tag, target]) => ({ tag, target: unescaped(target!) }))
    return links.flatMap(({ tag, target }) => {
      if (OUTSIDE.test(target))
        return tag === 'a' ? [] : [`${page} loads ${target}, which is not of the site`]
      if (/^[a-z]+:/i.test(target)) return []
      const [path = '', anchor = ''] = target.split('#')
      const file = fileOf(dist, page, path.replace(/\?.*$/, ''))
      if (file === undefined) return [`${page} links ${target}, which is not there`]
      const isThere = anchor === '' || !file.endsWith('.html') || idsOf(file).has(decodeURIComponent(anchor))
      return isThere ? [] : [`${page} links ${target}, and ${file} has no such part`]
    })
  })
}

/** The file that a server of files would give for a path. */
function fileOf(dist: string, page: string, path: string): string | undefined {
  if (path === '') return page
  const full = path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(page), path)
  const file = full === '' || full.endsWith('/') ? `${full}index.html` : full
  return [file, `${file}.html`].find(
    (one) => existsSync(join(dist, one)) && statSync(join(dist, one)).isFile(),
  )
}

function readIds(path: string): ReadonlySet<string> {
  return new Set([...readFileSync(path, 'utf8').matchAll(ID)].map(([, id]) => unescaped(id!)))
}
