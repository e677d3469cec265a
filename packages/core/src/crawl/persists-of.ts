import type { Settings } from '../settings/settings.ts'

/** Returns whether what a crawl on Redis has met outlives its run: one that comes back to its pages knows them in the next. */
export function persistsOf(settings: Settings): boolean {
  return settings.getBool('SCHEDULER_PERSIST') || settings.get('RECRAWL') !== 'off'
}
