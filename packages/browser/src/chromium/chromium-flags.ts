/** How Chromium is started beside what Playwright adds. */

/** With it WebRTC's packets go through a proxy, or not at all. It cannot be set later, by DevTools. */
export const WEBRTC_FLAG = '--force-webrtc-ip-handling-policy=disable_non_proxied_udp'

/**
 * All that leaves goes through our proxy, which Playwright names for each context, loopback included. These close what would not
 * ask a proxy: UDP, and names that are looked up for their own sake.
 */
const NO_WAY_ROUND = [
  '--disable-quic',
  '--dns-prefetch-disable',
  WEBRTC_FLAG,
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--no-pings',
  '--disable-domain-reliability',
]

/** @param heapMb where a page's scripts must stop, so that one page cannot take the memory of all */
export function chromiumFlags({ proxyHost, heapMb }: { proxyHost: string; heapMb: number }): string[] {
  return [
    ...NO_WAY_ROUND,
    // A second lock: what forgets the proxy finds no name. The proxy itself is an address.
    `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${proxyHost}`,
    `--js-flags=--max-old-space-size=${heapMb}`,
    // Nobody looks; servers have none.
    '--disable-gpu',
  ]
}
