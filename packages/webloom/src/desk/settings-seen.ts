/** Settings as they stand, without their secrets, and who set each. */

import { SETTINGS_TABLE, type SettingName, type SettingSeen, type Settings, shownValue } from '@webloom/core'

/** A value may be a list of a thousand start URLs. */
const VALUE_CHARS_MAX = 400

export function settingsSeen(settings: Settings): SettingSeen[] {
  return SETTINGS_TABLE.filter(({ use }) => use === 'used').map(({ name, summary }) => {
    const { value, source, layers } = settings.explain(name as SettingName)
    return {
      name,
      value: shownValue(name, value, VALUE_CHARS_MAX),
      source: source ?? 'default',
      place: source === 'default' ? null : (layers.at(-1)?.place ?? null),
      summary,
    }
  })
}
