import { isIPv6 } from 'node:net'
import { hostNameOf } from '@webloom/url'

/** What a host's name in a URL can have and a slot's name cannot: a port, or letters that URLs write in another way. */
const AS_URLS_HAVE_IT = /:\d+$|\.[^/]*[^\u0000-\u007f]|[^\u0000-\u007f][^/]*\./
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
  const host = name.includes('/') || !AS_URLS_HAVE_IT.test(name) ? '' : hostNameOf(`http://${name}/`)
  return host || name.toLowerCase()
}

/** Returns what somebody types who means this slot: its name, in double quotes where another would be meant. */
export function slotTyped(slot: string): string {
  return slotNamed(slot) === slot ? slot : `"${slot}"`
}
