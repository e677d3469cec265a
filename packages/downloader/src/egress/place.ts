/** `host:port`, as the address guard has it: names in lower case, addresses of IPv6 in brackets. */

import { hostAndPort } from '@webloom/core'

/** Returns host and port of a target of CONNECT or of an http: URL; undefined when it is neither. */
export function placeOf(target: string): string | undefined {
  const isUrl = /^http:\/\//i.test(target)
  if (!isUrl && !/^[^/?#@\s]+:\d{1,5}$/.test(target)) return undefined
  return hostAndPort(isUrl ? target : `http://${target}`)
}

export function hostOfPlace(place: string): string {
  return place.slice(0, place.lastIndexOf(':')).replace(/^\[|\]$/g, '')
}

export function portOfPlace(place: string): number {
  return Number(place.slice(place.lastIndexOf(':') + 1))
}

/** Returns whether a host is one of these, or a subdomain of one. */
export function isAmong(host: string, hosts: readonly string[]): boolean {
  return hosts.some((one) => host === one || host.endsWith(`.${one}`))
}
