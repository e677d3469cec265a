/**
 * Returns the entries of the highest ranks, the highest first; of equal ranks those that came first. It looks at each entry
 * once, and keeps twice as many as it returns at the most.
 */
export function highest<Entry>(
  entries: Iterable<Entry>,
  most: number,
  rank: (entry: Entry) => number,
): Entry[] {
  let kept: Entry[] = []
  let beyond = Number.NEGATIVE_INFINITY
  const cut = () => {
    kept = kept.sort((a, b) => rank(b) - rank(a)).slice(0, most)
    if (kept.length === most && most > 0) beyond = rank(kept.at(-1)!)
  }
  for (const entry of entries) {
    if (rank(entry) <= beyond) continue
    if (kept.push(entry) >= 2 * most) cut()
  }
  cut()
  return kept
}
