/** Where a worker's CPU goes, by V8's profile of one: each sample counts for the innermost function that a part knows. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface PartOfPage {
  readonly part: string
  /** Of the time of all parts, 0 to 1. */
  readonly share: number
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly children?: readonly number[]
}

interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** The first that fits; `undefined` does not count: loading the program, and waiting. */
const PARTS: readonly (readonly [pattern: RegExp, part: string | undefined])[] = [
  [/^\(idle\)|^\(root\)|internal\/modules|internal\/process\/pre_execution/, undefined],
  [/^\(garbage collector\)/, 'garbage collection'],
  [
    /packages\/(url\/|core\/src\/(fingerprints|requests))/,
    'URLs: join, safe and canonical form, fingerprint, request',
  ],
  [/packages\/(selectors\/|spider\/src\/scraping\/link)/, 'links: reading the page for them'],
  [/packages\/downloader|node_modules\/undici|internal\/deps\/undici/, 'fetch: undici and middlewares'],
  [/packages\/(dupefilter|scheduler)/, 'dupefilter and scheduler'],
  [/packages\/queue|node_modules\/bullmq/, 'queue'],
  [/node_modules\/(@?ioredis|redis-)/, 'Redis client: ioredis, for queue and dupefilter'],
  [/packages\//, 'engine, callback, items'],
]
const REST = 'Node itself: sockets, timers, promises'

/** Of the one profile in the folder (`--cpu-prof-dir`), the largest part first. */
export async function partsOfPage(folder: string): Promise<PartOfPage[]> {
  const [name] = await readdir(folder)
  const profile = JSON.parse(await readFile(join(folder, name!), 'utf8')) as Profile
  const partOf = partsByNode(profile.nodes)
  const micros = new Map<string, number>()
  profile.samples.forEach((id, n) => {
    const part = partOf.get(id)
    if (part !== undefined) micros.set(part, (micros.get(part) ?? 0) + profile.timeDeltas[n]!)
  })
  const total = [...micros.values()].reduce((sum, one) => sum + one, 0)
  return [...micros].map(([part, sum]) => ({ part, share: sum / total })).sort((a, b) => b.share - a.share)
}

/** What a function does belongs to the part that called it, unless it is of another. */
function partsByNode(nodes: readonly ProfileNode[]): Map<number, string | undefined> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parts = new Map<number, string | undefined>()
  const visit = ({ id, callFrame, children = [] }: ProfileNode, callers: string | undefined) => {
    const name = callFrame.url || callFrame.functionName
    const known = PARTS.find(([pattern]) => pattern.test(name))
    const part = known ? known[1] : callers
    parts.set(id, part)
    for (const child of children) visit(byId.get(child)!, id === nodes[0]!.id ? REST : part)
  }
  visit(nodes[0]!, REST)
  return parts
}
