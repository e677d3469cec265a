const SUGGESTIONS_MAX = 3

/** Returns the known names that somebody may have meant, best first. */
export function nearestNames(written: string, known: readonly string[]): string[] {
  const wanted = written.toLowerCase()
  const distanceMax = Math.max(1, Math.ceil(wanted.length * 0.34))
  return known
    .map((name) => ({ name, distance: nameDistance(wanted, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= distanceMax)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, SUGGESTIONS_MAX)
    .map(({ name }) => name)
}

/** ` Did you mean a or b?`, or nothing. */
export function didYouMean(written: string, known: readonly string[]): string {
  const near = nearestNames(written, known)
  return near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ''
}

// A beginning of a name is a good guess, however much is missing.
function nameDistance(wanted: string, name: string): number {
  if (wanted.length > 2 && name.startsWith(wanted)) return 1
  return editDistance(wanted, name)
}

/** Damerau–Levenshtein (optimal string alignment): letters added, left out, changed, or two swapped. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const changed = last[column - 1]! + Number(from[row - 1] !== to[column - 1])
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const swapped = row > 1 && column > 1 && isSwap ? beforeLast[column - 2]! + 1 : Infinity
      current.push(Math.min(last[column]! + 1, current[column - 1]! + 1, changed, swapped))
    }
    beforeLast = last
    last = current
  }
  return last[to.length]!
}
