import { hash } from 'node:crypto'
import { chainOf, NO_CALLBACK, type Request } from '@webloom/core'
import { isFrameworkClass, type Spider } from '../spider.ts'

interface Versions {
  readonly methods: string
  readonly byCallback: Map<string, number>
}

const known = new WeakMap<Spider, Versions>()

/**
 * Two bytes of a request's callback: of its name, and of the texts of all methods of the spider. Another number: one of them was changed,
 * and may find other things on a page that has not changed. Which methods a callback calls is not looked for: one that is passed over would
 * keep items back, while one too many writes some again.
 *
 * Methods of this framework do not count: a release would else write all items again. Not seen: what a callback calls elsewhere, and
 * methods that are private to the language (`#price()`).
 */
export function callbackVersion(spider: Spider, { callback }: Request): number {
  const name = typeof callback === 'string' ? callback : 'parse'
  const { methods, byCallback } = known.get(spider) ?? firstVersions(spider)
  let version = byCallback.get(name)
  if (version === undefined) {
    version = Number.parseInt(hash('sha1', `${name}\n${methods}`).slice(0, 4), 16) || NO_CALLBACK + 1
    byCallback.set(name, version)
  }
  return version
}

function firstVersions(spider: Spider): Versions {
  const versions = { methods: hash('sha1', methodTexts(spider).join('\n')), byCallback: new Map() }
  known.set(spider, versions)
  return versions
}

/** Methods, accessors, functions in fields and static functions of the classes that are the author's. */
function methodTexts(spider: Spider): string[] {
  const own = chainOf(spider).filter((object) => !isFrameworkClass(object))
  return own.flatMap((object) => [
    ...functionsOf(object),
    ...(object === spider ? [] : functionsOf(object.constructor)),
  ])
}

function functionsOf(object: object): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(object)).flatMap(([name, { value, get, set }]) =>
    // The constructor's text is that of its whole class, settings and start URLs included.
    name === 'constructor'
      ? []
      : [value, get, set]
          .filter((part) => typeof part === 'function')
          .map((part) => `${name} ${part.toString()}`),
  )
}
