import { SettingsError } from '@webloom/core'

/**
 * The keys of one filter. The main key keeps the name that users and Python crawlers know; its companions have it as
 * their hash tag, so that Redis Cluster keeps all of them in one slot, where one script can reach them.
 */
export interface FilterKeys {
  readonly main: string
  /** Hash: member → attempt and owner that were told it is new. */
  readonly pending: string
  /** Hash: owner → whether it is settled. `<owners>:<owner>` is the list of its members. */
  readonly owners: string
  /** List: settled owners, oldest first. */
  readonly settled: string
  /** Hash: generation; for a Bloom filter its parameters and counts, too. */
  readonly record: string
}

export function filterKeys(main: string): FilterKeys {
  return {
    main,
    pending: companionKey(main, 'pending'),
    owners: companionKey(main, 'owners'),
    settled: companionKey(main, 'settled'),
    record: companionKey(main, 'record'),
  }
}

export function companionKey(main: string, name: string): string {
  if (/\{[^}]+\}/.test(main)) return `${main}:${name}`
  if (!/[{}]/.test(main) && main !== '') return `{${main}}:${name}`
  throw new SettingsError([
    `SCHEDULER_DUPEFILTER_KEY is ${JSON.stringify(main)}; expected a name without braces, or with one hash tag in them, as in {quotes}:dupefilter`,
  ])
}
