/** How long and how repetitive a path may be; 0: no limit. */
export interface PathLimits {
  readonly segmentsMax: number
  /** How often one segment may stand in a path. */
  readonly repeatsMax: number
}

export type PathTrap = 'repeated_segments' | 'too_many_segments'

/**
 * Whether a URL looks as if it came from a link that leads into itself: `/a/b/a/b/a/b/a/b`, or ever deeper. A relative
 * link that a server answers on every level makes such paths without end.
 *
 * Wherever in the path the segment stands, it counts: with two such links a page, paths are words of two letters that
 * need not repeat in a row. Numbers do not count: dates and map tiles have the same ones often enough.
 */
export function pathTrapOf(url: string, { segmentsMax, repeatsMax }: PathLimits): PathTrap | undefined {
  const segments = pathOf(url).split('/')
  if (segmentsMax > 0 && segments.length > segmentsMax && segments.filter(Boolean).length > segmentsMax)
    return 'too_many_segments'
  // Before the first slash there is nothing.
  if (repeatsMax === 0 || segments.length - 1 <= repeatsMax) return undefined
  const times = new Map<string, number>()
  for (const segment of segments) {
    if (/^\d*$/.test(segment)) continue
    const count = (times.get(segment) ?? 0) + 1
    if (count > repeatsMax) return 'repeated_segments'
    times.set(segment, count)
  }
  return undefined
}

/** From the first slash after the host to the query. */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  if (start < 0) return ''
  const end = url.slice(start).search(/[?#]/)
  return end < 0 ? url.slice(start) : url.slice(start, start + end)
}
