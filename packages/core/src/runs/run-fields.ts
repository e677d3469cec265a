import type { RunSeen } from '../desk/history-seen.ts'

const WATCHED = 'coverage/'

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
