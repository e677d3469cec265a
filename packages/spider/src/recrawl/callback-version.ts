import { hash } from 'node:crypto'
import { type Request, spiderProperties } from '@webloom/core'
import type { Spider } from '../spider.ts'

const known = new WeakMap<Spider, Map<string, number>>()

/**
 * Two bytes of the text of a request's callback, and of `recrawlContent` where there is one. Another number: one of them was changed, and
 * may find other things on a page that has not changed.
 */
export function callbackVersion(spider: Spider, { callback }: Request): number {
  const name = typeof callback === 'string' ? callback : 'parse'
  const versions = known.get(spider) ?? new Map<string, number>()
  known.set(spider, versions)
  let version = versions.get(name)
  if (version === undefined) {
    const texts = textOf(spider, name) + textOf(spider, 'recrawlContent')
    version = Number.parseInt(hash('sha1', texts).slice(0, 4), 16)
    versions.set(name, version)
  }
  return version
}

function textOf(spider: Spider, name: string): string {
  for (const [property, value] of spiderProperties(spider))
    if (property === name && typeof value === 'function') return String(value)
  return ''
}
