/** The pace of a crawl, as its workers have told it. */

import { type SettingName, Settings } from '@webloom/core'
import type { SettingsTold } from '@webloom/queue'

const PACE = [
  'CONCURRENT_REQUESTS',
  'CONCURRENT_REQUESTS_PER_DOMAIN',
  'CONCURRENT_REQUESTS_PER_IP',
  'DOWNLOAD_DELAY',
  'DOWNLOAD_DELAY_JITTER',
  'DOWNLOAD_SLOTS',
  'RANDOMIZE_DOWNLOAD_DELAY',
] as const satisfies readonly SettingName[]

/** Returns the settings with the pace of the workers: where they tell nothing of one they have its default. Those that were given for a crawl whose workers have told none. */
export function paceAsTold(settings: Settings, told: SettingsTold | undefined): Settings {
  if (!told) return settings
  const values = new Map(told.settings.map(({ name, value }) => [name, value]))
  const defaults = new Settings({})
  const paces = PACE.filter((name) => values.has(name) || settings.isSet(name)).map((name) => [
    name,
    values.has(name) ? values.get(name) : defaults.get(name),
  ])
  const asTold = settings.with('command', Object.fromEntries(paces))
  try {
    for (const name of PACE) asTold.get(name)
    return asTold
  } catch {
    // A value that was cut as too long, or of a newer release.
    return settings
  }
}
