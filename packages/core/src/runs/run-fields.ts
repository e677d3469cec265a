import type { RunSeen } from '../desk/history-seen.ts'

const WATCHED = 'coverage/'

/** Returns the count of this name; undefined where none is noted. Sites name fields: `constructor` is one as any other. */
export function countOf(
  counts: Readonly<Record<string, number>> | undefined,
  name: string,
): number | undefined {
  return counts && Object.hasOwn(counts, name) ? counts[name] : undefined
}

/**
 * Returns the fields that items of these runs have, and those whose absence their monitors have told of; those of the first run come first.
 * A field that no item has any more is in earlier runs alone.
 */
export function fieldsOfRuns(runs: readonly Pick<RunSeen, 'fields' | 'alerts'>[]): string[] {
  const names = runs.flatMap(({ fields, alerts = [] }) => [
    ...Object.keys(fields),
    ...alerts.flatMap(({ id }) => (id.startsWith(WATCHED) ? [id.slice(WATCHED.length)] : [])),
  ])
  return [...new Set(names)]
}
