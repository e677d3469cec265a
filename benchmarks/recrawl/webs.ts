/** Webs whose pages change at rates that are known here, and not to schedules. */

const DAY = 24

/** Of pages that are alike: hours between two changes, and how many parts of the pages are so. */
type Kind = readonly [hours: number, parts: number]

export const WEBS: Readonly<Record<string, readonly Kind[]>> = {
  'as many of each': pagesOf(
    [1, 1],
    [6, 1],
    [DAY, 1],
    [7 * DAY, 1],
    [30 * DAY, 1],
    [Number.POSITIVE_INFINITY, 1],
  ),
  'lists and articles': pagesOf([1, 5], [4 * DAY, 5]),
  'mostly fast': pagesOf([1, 3], [6, 3], [DAY, 2], [7 * DAY, 1], [30 * DAY, 1]),
  'mostly still': pagesOf(
    [1, 2],
    [6, 3],
    [DAY, 10],
    [7 * DAY, 20],
    [30 * DAY, 30],
    [Number.POSITIVE_INFINITY, 35],
  ),
  'half a day to a week': pagesOf([DAY / 2, 1], [DAY, 1], [2 * DAY, 1], [4 * DAY, 1], [8 * DAY, 1]),
  'all alike': pagesOf([3 * DAY, 1]),
}

function pagesOf(...kinds: Kind[]): readonly Kind[] {
  return kinds
}

/** Returns the changes an hour of each page. */
export function ratesOf(kinds: readonly Kind[], pages: number): readonly number[] {
  const parts = kinds.reduce((sum, [, part]) => sum + part, 0)
  return kinds.flatMap(([hours, part]) => Array<number>(Math.round((pages * part) / parts)).fill(1 / hours))
}
