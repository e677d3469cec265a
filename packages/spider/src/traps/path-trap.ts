/** How long and how repetitive a path may be. 0: no limit. */
export interface PathLimits {
  readonly segmentsMax: number
  /** How often one segment may occur in a path. */
  readonly repeatsMax: number
}

export type PathTrap = 'repeated_segments' | 'too_many_segments'

/**
 * Returns the trap when a URL looks like that of a link that leads into itself: `/a/b/a/b/a/b/a/b`, or ever deeper. A
 * relative link that a server answers on every level makes such paths without end.
 *
 * A segment counts wherever it stands in the path: with two such links on a page, their segments need not repeat in a row.
 * Numbers do not count: dates and map tiles often have the same ones.
 */
export function pathTrapOf(url: string, { segmentsMax, repeatsMax }: PathLimits): PathTrap | undefined {
  // A path has no more segments than slashes, and most have few.
  const slashes = slashesInPath(url)
  const mayBeLong = segmentsMax > 0 && slashes >= segmentsMax
  const mayRepeat = repeatsMax > 0 && slashes > repeatsMax
  if (!mayBeLong && !mayRepeat) return undefined
  const segments = pathOf(url).split('/')
  if (mayBeLong && segments.filter(Boolean).length > segmentsMax) return 'too_many_segments'
  return mayRepeat && hasRepeats(segments, repeatsMax) ? 'repeated_segments' : undefined
}

function hasRepeats(segments: readonly string[], repeatsMax: number): boolean {
  const times = new Map<string, number>()
  for (const segment of segments) {
    if (/^\d*$/.test(segment)) continue
    const count = (times.get(segment) ?? 0) + 1
    if (count > repeatsMax) return true
    times.set(segment, count)
  }
  return false
}

function slashesInPath(url: string): number {
  let slashes = 0
  for (let at = pathStart(url); at < url.length; at++) {
    const code = url.charCodeAt(at)
    if (code === SLASH) slashes++
    else if (code === QUESTION_MARK || code === HASH) break
  }
  return slashes
}

const SLASH = 0x2f
const QUESTION_MARK = 0x3f
const HASH = 0x23

/** Returns the part from the first slash after the host to the query. */
function pathOf(url: string): string {
  const path = url.slice(pathStart(url))
  const end = path.search(/[?#]/)
  return end < 0 ? path : path.slice(0, end)
}

/** Returns where the first slash after the host stands; the URL's length when there is none. */
function pathStart(url: string): number {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  return start < 0 ? url.length : start
}
