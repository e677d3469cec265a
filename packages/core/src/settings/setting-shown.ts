/**
 * Values of settings in a form that may be shown: in messages, in `webloom settings`, in logs. Secret parts are hidden in
 * their place, so that the rest can be read:
 *
 * - what follows such a name in a text: `Authorization: …`, `Password=…;`
 * - user and password of any URL, and values in its query that are named token, key or password;
 * - values in an object under a name that says so (`REDIS_PARAMS.password`, `Authorization`, `AWS_SECRET_ACCESS_KEY`);
 * - of REDIS_PARAMS texts under names that are not known to hold none: a password whose name is misspelt is one all the same;
 * - the whole rest of a setting whose row says `secret`; of a webhook's URL its path, which is the right to use it.
 */

import { settingRow } from './settings-table.ts'

const HIDDEN = '***'
const NOT_SHOWN = '(not shown)'

// Deeper than any real setting; an object that holds itself ends here.
const DEPTH_MAX = 20

/**
 * Returns a value as messages and `webloom settings` show it: on one line, without control characters and secrets.
 *
 * @param lengthMax how many characters are shown
 */
export function shownValue(name: string, value: unknown, lengthMax = Infinity): string {
  const text = asText(withoutSecrets(name, value))
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
}

/** Returns the same value with its secrets hidden. */
export function withoutSecrets(name: string, value: unknown): unknown {
  const isSecret = settingRow(name)?.secret === true
  // A setting of the author's own has no row that says so.
  if (!isSecret && name.startsWith('CUSTOM_') && isSecretName(name) && isSomething(value)) return NOT_SHOWN
  const shown = cleared(value, isSecret, 0)
  if (name === 'REDIS_PARAMS') return withoutUnknown(shown)
  return name === 'MONITOR_WEBHOOKS' ? withoutPaths(shown) : shown
}

/** Of redis-py and ioredis, and of Node's TLS: those whose texts are no secrets. */
const KNOWN_PARAM =
  /^(?:host|path|db|family|name|role|username|sentinel_?username|client_name|connectionName|keyPrefix|encoding|encoding_errors|redis_cls|servername|ca|cert|ssl_(?:ca_certs|ca_data|certfile|keyfile|cert_reqs|check_hostname)|(?:min|max)Version)$/i

function withoutUnknown(value: unknown, isKnown = false): unknown {
  if (typeof value === 'string') return isKnown || value === '' || value === NOT_SHOWN ? value : HIDDEN
  if (Array.isArray(value)) return value.map((entry) => withoutUnknown(entry, isKnown))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, withoutUnknown(entry, KNOWN_PARAM.test(name))]),
  )
}

/** What follows the host of each URL in a text, or in the entries of a list, is hidden. */
function withoutPaths(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPaths)
  if (typeof value === 'string') return value.replace(PATH_IN_URL, `$1${HIDDEN}`)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, withoutPaths(entry)]))
}

const PATH_IN_URL = /([a-z][a-z0-9+.-]{0,30}:\/\/[^/?#\s,"']+[/?#])[^\s,"']+/gi

/** Returns a text with the passwords of its URLs hidden. */
export function withoutUrlSecrets(text: string): string {
  if (!text.includes('://')) return text
  return text.replace(USER_IN_URL, `$1${HIDDEN}@`).replace(SECRET_IN_QUERY, `$1${HIDDEN}`)
}

const USER_IN_URL = /([a-z][a-z0-9+.-]{0,30}:\/\/)[^/?#\s"'@]*(?:@[^/?#\s"'@]*)*@/gi
const SECRET_WORDS =
  'pass(?:word|wd|phrase)?|pwd|secret|token|signature|credential|(?:api|access|private|subscription)[-_]?key|jwt'
// `sig` is what Azure calls a signature.
const SECRET_IN_QUERY = new RegExp(
  `([?&](?:sig|[\\w.-]{0,40}?(?:${SECRET_WORDS})[\\w.-]{0,40})=)[^&#\\s"']*`,
  'gi',
)
const SECRET_NAME = new RegExp(`${SECRET_WORDS}|authorization|cookie(?!s_|jar)|bearer`, 'i')
const SECRET_IN_TEXT = new RegExp(
  // What is hidden already ends no sentence twice.
  `((?:${SECRET_WORDS}|authorization|cookie)["']?\\s{0,9}[:=]\\s{0,9}["']?)(?!\\s{0,9}\\*{3})[^;,&\n"']+`,
  'gi',
)
const SECRET_WORD = new RegExp(`${SECRET_WORDS}|authorization|cookie|bearer|basic`, 'i')
/** Behind the scheme of an Authorization header, whatever the name before it: no word of a sentence has a digit, or a capital in its middle. */
const SECRET_BY_SCHEME =
  /\b((?:[Bb]earer|[Bb]asic)\s)(?=[\w.~+/-]{0,4000}(?:[\d=]|[a-z][A-Z]))[\w.~+/=-]{6,}/g
// Names of TLS options and of authentication, which are written without an addition.
const SECRET_NAME_WHOLE = /^(?:CUSTOM_(?:\w+_)?)?(?:auth|key|pfx|pass|pw)$/i
// Names of settings and options that hold no secret though they mention one.
const NO_SECRET = /_(?:ENABLED|MAX|MAXSIZE|DEBUG|SHARED|DOMAIN|ENCODING)$|^(?:tokenizer|keyPrefix)$/

function isSecretName(name: string): boolean {
  // The names of feeds are paths and URIs.
  if (!/^[\w-]+$/.test(name)) return false
  return (
    (SECRET_NAME.test(name.replaceAll('-', '_')) || SECRET_NAME_WHOLE.test(name)) && !NO_SECRET.test(name)
  )
}

/** Returns a text without the secrets of its URLs, headers and connection strings: `Authorization: Bearer …`, `Server=db;Password=…`. */
export function withoutTextSecrets(text: string): string {
  const shown = withoutUrlSecrets(text)
  // Few texts have such a word, and to look for one takes a fifth of what the others take.
  if (!SECRET_WORD.test(shown)) return shown
  return shown.replace(SECRET_IN_TEXT, `$1${HIDDEN}`).replace(SECRET_BY_SCHEME, `$1${HIDDEN}`)
}

function cleared(value: unknown, isSecret: boolean, depth: number): unknown {
  if (typeof value === 'string') return isSecret ? withoutSecret(value) : withoutTextSecrets(value)
  if (value instanceof URL) return cleared(value.href, isSecret, depth)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return '…'
  if (Array.isArray(value)) return value.map((entry) => cleared(entry, isSecret, depth + 1))
  const prototype = Object.getPrototypeOf(value)
  // Only its class is shown, as its fields are unknown.
  if (prototype !== Object.prototype && prototype !== null) return classOf(value)
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      withoutUrlSecrets(name),
      isSecretName(name) && isSomething(entry) ? HIDDEN : cleared(entry, false, depth + 1),
    ]),
  )
}

/** Returns a URL without user and password; of any other text, nothing. */
function withoutSecret(text: string): string {
  if (text === '') return text
  if (!text.includes('://')) return NOT_SHOWN
  // A password with a slash in it makes a wrong URL, but is still a password.
  return withoutUrlSecrets(text.replace(/^([a-z][a-z0-9+.-]*:\/\/).*@/is, `$1${HIDDEN}@`))
}

function isSomething(value: unknown): boolean {
  return value !== null && value !== undefined && value !== '' && typeof value !== 'boolean'
}

function classOf(value: object): string {
  return `an object of class ${value.constructor?.name ?? 'unknown'}`
}

function asText(value: unknown): string {
  if (typeof value === 'function') return `the function ${value.name || 'without a name'}`
  if (value === NOT_SHOWN) return NOT_SHOWN
  if (typeof value === 'string' || (typeof value === 'object' && value !== null)) return jsonText(value)
  return String(value)
}

function jsonText(value: string | object): string {
  try {
    // JSON would write null for a class in a list of components.
    return JSON.stringify(value, (_, entry) => (typeof entry === 'function' ? asText(entry) : entry))
  } catch {
    // The value holds a bigint. Only the message loses by that.
    return classOf(Object(value))
  }
}
