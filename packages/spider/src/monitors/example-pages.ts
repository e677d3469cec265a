import type { Response, StatsCollector } from '@webloom/core'
import { withoutUrlSecrets } from '@webloom/core'
import { holdsAt } from '../items/held-values.ts'

const PAGES_MAX = 3
/** Each is a text in the stats of each worker. */
const FIELDS_MAX = 50
const URL_CHARS_MAX = 300
/** The stat is a text that travels with the worker's heartbeat: it need not change with each page. */
const NOTED_EVERY_MS = 2000

/** Begins the stat of a field: the latest pages whose item lacks it, as JSON. */
export const PAGES_STAT = 'monitors/pages/'

/** Remembers pages whose items lack a field that a monitor watches, so that an alert can show some. */
export class ExamplePages {
  readonly #stats: StatsCollector
  readonly #fields: { readonly name: string; readonly path: readonly string[]; readonly pages: string[] }[] =
    []
  readonly #notedAt = new Map<string, number>()

  constructor(stats: StatsCollector, fields: readonly string[]) {
    this.#stats = stats
    this.watch(fields)
  }

  /** Watches these fields, too. */
  watch(fields: readonly string[]): void {
    for (const name of fields) {
      const isWatched = this.#fields.some((field) => field.name === name)
      if (!isWatched && this.#fields.length < FIELDS_MAX)
        this.#fields.push({ name, path: name.split('.'), pages: [] })
    }
  }

  look(item: unknown, response: Response | null): void {
    if (response === null) return
    for (const field of this.#fields) if (!has(item, field)) this.#note(field, response.url)
  }

  #note({ name, pages }: { readonly name: string; readonly pages: string[] }, url: string): void {
    const now = performance.now()
    if (
      now - (this.#notedAt.get(name) ?? Number.NEGATIVE_INFINITY) < NOTED_EVERY_MS &&
      pages.length >= PAGES_MAX
    )
      return
    const shown = withoutUrlSecrets(url).slice(0, URL_CHARS_MAX)
    if (pages.includes(shown)) return
    pages.unshift(shown)
    pages.length = Math.min(pages.length, PAGES_MAX)
    this.#notedAt.set(name, now)
    this.#stats.set(`${PAGES_STAT}${name}`, JSON.stringify(pages))
  }
}

/** A field may have a dot in its own name. */
function has(
  item: unknown,
  { name, path }: { readonly name: string; readonly path: readonly string[] },
): boolean {
  return holdsAt(item, path) || (path.length > 1 && holdsAt(item, [name]))
}
