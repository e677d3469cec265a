import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type Egress, NoAnswer, type OpenEgress, Request, waitAtMost, within } from '@webloom/core'
import type { Browser, Page } from 'playwright-core'
import type { BrowserSettings } from '../browser-settings.ts'
import { WEBRTC_FLAG } from './chromium-flags.ts'
import { unavailable } from './find-chromium.ts'

// Nobody need answer there: whether it was asked for is all that is to be seen. At the usual port, as browsers refuse some others.
const INSIDE = 'http://127.0.0.1/webloom-probe'
const OUTSIDE = 'http://webloom-probe.invalid/'
// Of a port of its own, as that tells it from the page. Lightpanda opens sockets past a proxy that it asks for all else.
const SOCKET = 'ws://webloom-probe.invalid:8080/'
const PROBE_MS_MAX = 5000
// Both pages, and half a minute for a machine that is busy.
const ANSWER_MS_MAX = 2 * PROBE_MS_MAX + 30_000

// A packet is there at once, or never.
const PACKET_MS_MAX = 1000

/**
 * Looks whether a browser that runs elsewhere asks our proxy, for loopback and for sockets, too, and sends nothing past it by WebRTC.
 * Rejects with `CloseSpider` when it does otherwise: its pages could then reach whatever it can.
 */
export async function refuseOpenBrowser(
  browser: Browser,
  openEgress: OpenEgress,
  { egressHost, answerMsMax = ANSWER_MS_MAX }: Pick<BrowserSettings, 'egressHost'> & { answerMsMax?: number },
): Promise<void> {
  const egress = await openEgress(new Request(OUTSIDE), {
    bytesMax: 0,
    onTooMuch: () => {},
    blockedHosts: ['127.0.0.1', 'webloom-probe.invalid'],
    listenAt: egressHost,
  })
  const { server } = egress
  let isSilent = false
  let seen: Seen | undefined
  try {
    seen = await within(answerMsMax, 'the browser', askAll(browser, egress, egressHost))
  } catch (error) {
    // A browser without contexts of their own asks nothing by our proxy, either.
    isSilent = error instanceof NoAnswer
  }
  const asked = new Set(egress.hosts.keys())
  await egress.close()
  const asksBoth = [INSIDE, OUTSIDE].every((url) => asked.has(placeOf(url)))
  const asksForSockets = seen?.hasSockets === false || asked.has(placeOf(SOCKET))
  if (asksBoth && asksForSockets && !seen?.sendsPackets) return
  await waitAtMost(answerMsMax, browser.close())
  if (isSilent)
    throw unavailable(
      `the browser of BROWSER_CDP_URL was connected to, and opens no page within ${answerMsMax / 1000} s. Start it anew`,
    )
  if (!asksBoth)
    throw unavailable(
      `the browser of BROWSER_CDP_URL does not ask the proxy of this worker (${server}), so nothing would keep its pages out of its network. Where it runs on another machine, name an address of this one that it can reach:  -s BROWSER_EGRESS_HOST=10.0.0.5  ${TRUST}`,
    )
  if (!asksForSockets)
    throw unavailable(
      `the browser of BROWSER_CDP_URL opens WebSockets past the proxy of this worker, to any address in its network, as Lightpanda does. Take a Chromium. ${TRUST}`,
    )
  throw unavailable(
    `the browser of BROWSER_CDP_URL sends what WebRTC sends past the proxy of this worker, to any address in its network. Start it with  ${WEBRTC_FLAG}  ${TRUST}`,
  )
}

const TRUST = 'Where its network has nothing to hide:  -s BROWSER_CDP_TRUSTED=true'

/** `host:port`, as the way out names it. */
function placeOf(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port || 80}`
}

/** What the proxy does not tell. */
interface Seen {
  /** Something went past the proxy. */
  readonly sendsPackets: boolean
  /** Pages can open WebSockets. */
  readonly hasSockets: boolean
}

async function askAll(browser: Browser, { server, credentials }: Egress, egressHost: string): Promise<Seen> {
  const context = await browser.newContext({
    proxy: { server, bypass: '<-loopback>', ...credentials },
  })
  try {
    const first = await context.newPage()
    for (const url of [OUTSIDE, INSIDE]) await first.goto(url, { timeout: PROBE_MS_MAX }).catch(() => {})
    // Chromium's own page of an error lets no script open anything. Lightpanda has none, and opens no second page.
    const page = await context.newPage().catch(() => first)
    const hasSockets = await opensSocket(page)
    return { hasSockets, sendsPackets: await sendsWebRtc(page, egressHost) }
  } finally {
    await context.close()
  }
}

/** Runs in a page, and is a text here: our types know no `WebSocket` of a page. Resolves when it has been opened, or refused. */
const OPEN_SOCKET = `(url) => new Promise((resolve) => {
  if (typeof WebSocket === 'undefined') return resolve(false)
  const socket = new WebSocket(url)
  socket.onopen = socket.onerror = socket.onclose = () => resolve(true)
})`

/** Resolves to whether the page can open sockets. The proxy knows whether it was asked for this one. */
async function opensSocket(page: Page): Promise<boolean> {
  let hasSockets = true
  const opened = page.evaluate<boolean>(`(${OPEN_SOCKET})(${JSON.stringify(SOCKET)})`).then((has) => {
    hasSockets = has
  })
  await waitAtMost(PROBE_MS_MAX, opened)
  return hasSockets
}

/** Runs in a page, and is a text here: our types know no `RTCPeerConnection`. Resolves when all that it would send is sent. */
const GATHER = `(url) => new Promise((resolve) => {
  if (typeof RTCPeerConnection === 'undefined') return resolve()
  const peer = new RTCPeerConnection({ iceServers: [{ urls: url }] })
  peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve()
  peer.createDataChannel('probe')
  peer.createOffer().then((offer) => peer.setLocalDescription(offer)).catch(resolve)
})`

async function sendsWebRtc(page: Page, host: string): Promise<boolean> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  let hasCome = false
  const packet = once(socket, 'message').then(() => {
    hasCome = true
  })
  packet.catch(() => {})
  try {
    socket.bind(0, host)
    await once(socket, 'listening')
    const { port } = socket.address() as AddressInfo
    const url = `stun:${host.includes(':') ? `[${host}]` : host}:${port}`
    const gathered = page.evaluate(`(${GATHER})(${JSON.stringify(url)})`).catch(() => {})
    await waitAtMost(PACKET_MS_MAX, Promise.race([packet, gathered]))
    return hasCome
  } finally {
    socket.close()
  }
}
