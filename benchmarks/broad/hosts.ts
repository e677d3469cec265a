/** The hosts of the broad web: addresses of 127.0.0.0/8, which all are this machine, so that one server is all of them. */

/** How the hosts are addressed. */
export interface WebAddress {
  readonly port: number
  readonly isTls: boolean
  /** By names, which a name server has to be asked for; otherwise by the addresses themselves. */
  readonly isNamed: boolean
}

const NAME = /^h(\d+)\.broad\.test$/

/** 127.1.0.0 is the first, 127.1.0.1 the next; there is room for 16 million. */
export function hostAddress(host: number): string {
  return `127.${1 + (host >>> 16)}.${(host >>> 8) & 255}.${host & 255}`
}

export function hostName(host: number): string {
  return `h${host}.broad.test`
}

/** The other way, of a name or an address: -1 for one that is no host of the web. */
export function hostOf(hostname: string): number {
  const named = NAME.exec(hostname)
  if (named) return Number(named[1])
  const [first, high = 0, middle = 0, low = 0] = hostname.split('.').map(Number)
  return first === 127 ? ((high - 1) << 16) | (middle << 8) | low : -1
}

/** Addresses the page `page` of a host, which counts from 0. */
export function pageUrl({ port, isTls, isNamed }: WebAddress, host: number, page: number): string {
  const hostname = isNamed ? hostName(host) : hostAddress(host)
  return `${isTls ? 'https' : 'http'}://${hostname}:${port}/p/${page}`
}

/** The host that takes connections and requests and answers none: the last address before the machine's own. */
export const SILENT_HOST = hostOf('127.254.0.1')

/** One name of so many is never answered by the name server. */
const SILENT_NAME_EVERY = 100

/** Whether the name server keeps silent about a host; the first one is always found. */
export function hasSilentName(host: number): boolean {
  return host % SILENT_NAME_EVERY === SILENT_NAME_EVERY - 1
}

/** How many of the first `hosts` hosts can be reached by name. */
export function answeredNames(hosts: number): number {
  return hosts - Math.floor(hosts / SILENT_NAME_EVERY)
}
