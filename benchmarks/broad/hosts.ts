/** The hosts of the broad web: addresses of 127.0.0.0/8, which all are this machine, so that one server is all of them. */

/** 127.1.0.0 is the first, 127.1.0.1 the next; there is room for 16 million. */
export function hostAddress(host: number): string {
  return `127.${1 + (host >>> 16)}.${(host >>> 8) & 255}.${host & 255}`
}

/** The other way: -1 for an address that is no host of the web. */
export function hostOf(address: string): number {
  const [, high = 0, middle = 0, low = 0] = address.split('.').map(Number)
  return ((high - 1) << 16) | (middle << 8) | low
}

/** Addresses the page `page` of a host, which counts from 0. */
export function pageUrl(port: number, host: number, page: number): string {
  return `http://${hostAddress(host)}:${port}/p/${page}`
}

/** The host that takes connections and requests and answers none: the last address before the machine's own. */
export const SILENT_HOST = hostOf('127.254.0.1')
