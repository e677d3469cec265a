import { type DupeFilter, storeTrouble } from '@webloom/core'
import { type Patience, patiently } from './patience.ts'

/** Waits for a server that takes no writes just now. One that is full is told: it may never have room for the filter. */
export async function openFilter(filter: DupeFilter, patience: Omit<Patience, 'what'>): Promise<void> {
  const open = () =>
    filter.open().then(
      () => undefined,
      (error: unknown) => (storeTrouble(error) === 'full' ? error : Promise.reject(error)),
    )
  const full = await patiently(open, { ...patience, what: 'opening the dupefilter' })
  if (full !== undefined) throw full
}
