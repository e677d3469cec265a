/** How Chromium is started beside what Playwright adds. */

/**
 * All that leaves goes through our proxy, which Playwright names for each context, loopback included. These close what would not
 * ask a proxy: UDP, and names that are looked up for their own sake. The last one is a second lock: whatever forgets the proxy finds no
 * name. The proxy itself is an address.
 */
const NO_WAY_ROUND = [
  '--disable-quic',
  '--dns-prefetch-disable',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--no-pings',
  '--disable-domain-reliability',
]

/** @param heapMb where a page's scripts must stop, so that one page cannot take the memory of all */
export function chromiumFlags({ proxyHost, heapMb }: { proxyHost: string; heapMb: number }): string[] {
  return [
    ...NO_WAY_ROUND,
    `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${proxyHost}`,
    `--js-flags=--max-old-space-size=${heapMb}`,
    // Nobody looks; servers have none.
    '--disable-gpu',
  ]
}
