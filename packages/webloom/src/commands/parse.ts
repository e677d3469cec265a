import { type JsonObject, methodNamed, Request, UsageError } from '@webloom/core'
import { InvalidItem } from '@webloom/spider'
import type { PageFlags } from '../authoring/page-workbench.ts'
import { openWorkbench, pageOf, refuseVisitor, typedUrl } from '../authoring/page-workbench.ts'
import type { Workbench } from '../authoring/workbench.ts'
import { EXIT } from '../exit-codes.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { visibleJson, visibleLines } from '../terminal/sanitize.ts'

export interface ParseFlags extends PageFlags {
  readonly callback?: string
  readonly meta?: string
  readonly cbkwargs?: string
  readonly depth: string
  readonly pipelines?: boolean
  readonly items?: boolean
  readonly links?: boolean
  readonly verbose?: boolean
  readonly json?: boolean
}

/** What the pages at one distance from the first yielded. */
interface Level {
  readonly depth: number
  readonly items: unknown[]
  readonly requests: Request[]
}

/** Fetches a page, runs a callback of the spider on it, and prints what comes out. Returns the exit code: 1 when the callback
 * has thrown, which is in the log; what it yielded before is printed. */
export async function parse(
  typed: string,
  flags: ParseFlags,
  config: LoadedConfig | undefined,
): Promise<number> {
  const url = typedUrl(typed)
  const depth = depthOf(flags.depth)
  await using workbench = await openWorkbench(url, flags, config)
  refuseVisitor(workbench, url)
  // Before the page is fetched; the scraper would log it with a stack.
  if (flags.callback !== undefined) methodNamed(workbench.spider, flags.callback, 'callback')
  const first = new Request(url, {
    dontFilter: true,
    callback: flags.callback ?? null,
    ...(flags.meta !== undefined && { meta: jsonObject(flags.meta, '--meta') }),
    ...(flags.cbkwargs !== undefined && { cbKwargs: jsonObject(flags.cbkwargs, '--cbkwargs') }),
  })
  if (flags.redirect === false) first.meta.dont_redirect = true
  if (flags.browser) first.meta.browser = true
  const { levels, hasThrown } = await parsed(workbench, first, depth)
  for (const level of flags.pipelines ? levels : []) {
    const kept = await workbench.process(level.items)
    level.items.splice(0, level.items.length, ...kept)
  }
  const shown = flags.verbose ? levels : [together(levels)]
  process.stdout.write(
    flags.json
      ? `${visibleJson(asJson(levels, flags))}\n`
      : shown.map((level) => asText(level, flags)).join('\n'),
  )
  return hasThrown ? EXIT.unexpected : EXIT.finished
}

/** The page, and from it all that its requests lead to, as many levels deep. */
async function parsed(
  workbench: Workbench,
  first: Request,
  depth: number,
): Promise<{ readonly levels: readonly Level[]; readonly hasThrown: boolean }> {
  const levels: Level[] = []
  let hasThrown = false
  let asked = [first]
  for (let level = 1; level <= depth && asked.length > 0; level++) {
    const found: Level = { depth: level, items: [], requests: [] }
    for (const request of asked) {
      const { items, requests, thrown } = await workbench.scrapeAll(await pageOf(workbench, request))
      if (thrown) hasThrown = true
      found.items.push(...items)
      found.requests.push(...requests)
    }
    levels.push(found)
    asked = found.requests
  }
  return { levels, hasThrown }
}

function together(levels: readonly Level[]): Level {
  return {
    depth: levels.length,
    items: levels.flatMap(({ items }) => items),
    // Those of the levels before have been fetched.
    requests: levels.at(-1)?.requests ?? [],
  }
}

function asText({ depth, items, requests }: Level, flags: ParseFlags): string {
  const lines = [`>>> depth ${depth} <<<`]
  if (flags.items !== false) lines.push(`# items: ${items.length}`, ...items.map(shownItem))
  if (flags.links !== false)
    lines.push(
      `# requests: ${requests.length}`,
      ...requests.map((request) => visibleLines(described(request))),
    )
  return `${lines.join('\n')}\n`
}

function shownItem(item: unknown): string {
  return item instanceof InvalidItem
    ? `dropped: ${visibleLines(item.message)}`
    : visibleJson(JSON.stringify(item))
}

function described({ method, url, callback }: Request): string {
  return `${method} ${url} → ${callback ?? 'parse'}`
}

function asJson(levels: readonly Level[], flags: ParseFlags): string {
  const { items, requests } = together(levels)
  return JSON.stringify({
    ...(flags.items !== false && { items }),
    ...(flags.links !== false && {
      requests: requests.map(({ method, url, callback }) => ({ method, url, callback: callback ?? 'parse' })),
    }),
  })
}

function depthOf(text: string): number {
  const depth = Number(text)
  if (Number.isInteger(depth) && depth >= 1) return depth
  throw new UsageError('WL_USAGE', `--depth ${text}: expected a whole number from 1`)
}

function jsonObject(text: string, flag: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new UsageError('WL_USAGE', `${flag} ${text}: ${(cause as Error).message}`, { cause })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw new UsageError('WL_USAGE', `${flag} ${text}: expected a JSON object, e.g. '{"page": 2}'`)
}
