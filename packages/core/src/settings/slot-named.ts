import { isIPv6 } from 'node:net'
import { hostNameOf } from '@webloom/url'

/** What a host's name in a URL can have and a slot's name cannot: a port, or letters that URLs write in another way. */
const AS_URLS_HAVE_IT = /:\d+$|\.[^/]*[^\u0000-\u007f]|[^\u0000-\u007f][^/]*\./
/** Longer than any name of DNS with its port. */
const HOST_CHARS_MAX = 300
const CONTROL = /[\u0000-\u001f\u007f]/

/**
 * Returns the slot that somebody means who types a host, its address or a URL of it: slots are named by the host alone, so an order for
 * `a.example:8080` would be for nobody. A name in double quotes is one as it stands: a `meta.download_slot` may look like that.
 * Undefined for what is not a name.
 */
export function slotNamed(typed: string): string | undefined {
  const name = typed.trim()
  if (name === '' || CONTROL.test(name) || !name.isWellFormed()) return undefined
  if (name.length > 2 && name.startsWith('"') && name.endsWith('"')) return name.slice(1, -1)
  if (name.includes('://')) return hostNameOf(name) || undefined
  if (isIPv6(name)) return hostNameOf(`http://[${name}]/`)
  const isOther = name.includes('/') || name.length > HOST_CHARS_MAX
  const host = isOther || !AS_URLS_HAVE_IT.test(name) ? '' : hostNameOf(`http://${name}/`)
  return host || name.toLowerCase()
}

/** Returns what somebody types who means this slot: its name, in double quotes where another would be meant. */
export function slotTyped(slot: string): string {
  return slotNamed(slot) === slot ? slot : `"${slot}"`
}

const NAMED_MAX = 5

/** Returns a warning of names that are no slot of a host, though they look like one with its port, a URL of it, or with capitals, or like a pattern of hosts. */
export function slotWarning(names: readonly string[]): string | undefined {
  const warnings = [patternWarning(names), otherNamesWarning(names)].filter((one) => one !== undefined)
  return warnings.length > 0 ? warnings.join('. ') : undefined
}

function patternWarning(names: readonly string[]): string | undefined {
  const patterns = names.filter((name) => name.includes('*') && name.includes('.'))
  if (patterns.length === 0) return undefined
  const shown = patterns.slice(0, NAMED_MAX).map((name) => JSON.stringify(name))
  return `DOWNLOAD_SLOTS names ${shown.join(', ')}${moreOf(patterns)}: it takes no patterns. Name each host; one pace for all hosts of a site is an entry for the site with POLITENESS_GROUP_BY=domain`
}

function moreOf(names: readonly string[]): string {
  return names.length > NAMED_MAX ? `, and ${names.length - NAMED_MAX} more` : ''
}

function otherNamesWarning(names: readonly string[]): string | undefined {
  const meant = names.flatMap((name) => {
    const host = slotNamed(name)
    // The slot of an address is that of the host in brackets, or with POLITENESS_GROUP_BY=ip the address itself.
    if (host === undefined || host === name || host.includes('/') || isIPv6(name)) return []
    return host !== name.toLowerCase() || name.includes('.')
      ? [`${JSON.stringify(name)} (write ${JSON.stringify(host)})`]
      : []
  })
  if (meant.length === 0) return undefined
  return `DOWNLOAD_SLOTS names ${meant.slice(0, NAMED_MAX).join(', ')}${moreOf(meant)}: hosts are named in lower case and without a port. Such an entry holds for requests with that meta.download_slot, and for the host where it makes it slower`
}
