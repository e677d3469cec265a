import type { Visit } from '../ports/visit-store.ts'

/** As `callbackVersion` of a page that was due when the spider had no callback of that name any more. No callback has this version. */
export const NO_CALLBACK = 0

/** Returns whether the page waits for a callback: it was due, and the spider had none of that name. */
export function lacksCallback({ callbackVersion }: Pick<Visit, 'callbackVersion'>): boolean {
  return callbackVersion === NO_CALLBACK
}
