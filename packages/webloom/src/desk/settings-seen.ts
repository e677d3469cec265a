/** Settings as a crawl's workers have them, without secrets, and who set each. */

import { SETTINGS_TABLE, type SettingSeen, shownValue } from '@webloom/core'
import type { SettingsTold } from '@webloom/queue'

/** A value may be a list of a thousand start URLs. */
const VALUE_CHARS_MAX = 400

/** Returns the settings of a crawl. Those that have their default are there, too; none where the workers have told nothing. */
export function settingsSeen(told: SettingsTold | undefined): SettingSeen[] {
  if (!told) return []
  const set = new Map(told.settings.map((setting) => [setting.name, setting]))
  const used = SETTINGS_TABLE.filter(({ use }) => use === 'used')
  const known = used.map(({ name, default: byDefault, summary }): SettingSeen => {
    const setting = set.get(name)
    set.delete(name)
    return {
      name,
      value: shownValue(name, setting ? setting.value : byDefault, VALUE_CHARS_MAX),
      source: setting?.source ?? 'default',
      summary,
    }
  })
  const own = [...set.values()].map(({ name, value, source }) => ({
    name,
    value: shownValue(name, value, VALUE_CHARS_MAX),
    source,
    summary: 'a setting of the project’s own',
  }))
  return [...known, ...own]
}
