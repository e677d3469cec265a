import { settingRow } from './settings-table.ts'

/**
 * A value as messages and `webloom settings` show it: one line, no control characters, no passwords.
 *
 * @param lengthMax characters after which it is cut
 */
export function shownValue(name: string, value: unknown, lengthMax = Infinity): string {
  const text = settingRow(name)?.secret ? withoutSecret(value) : asText(value)
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
}

const URL_WITH_USER = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i

/** Of a URL everything but user and password; nothing of anything else. */
function withoutSecret(value: unknown): string {
  if (value === null || value === undefined || value === '') return asText(value)
  if (typeof value !== 'string' || !value.includes('://')) return '(not shown)'
  return asText(value.replace(URL_WITH_USER, '$1***@'))
}

function asText(value: unknown): string {
  if (typeof value === 'function') return `the function ${value.name || 'without a name'}`
  if (typeof value === 'string' || (typeof value === 'object' && value !== null)) return jsonText(value)
  return String(value)
}

function jsonText(value: string | object): string {
  try {
    // A class in a list of components would become null.
    return JSON.stringify(value, (_, entry) => (typeof entry === 'function' ? asText(entry) : entry))
  } catch {
    // It holds itself or a bigint. Only the message is poorer for it.
    return `an object of class ${value.constructor?.name ?? 'unknown'}`
  }
}
