/** A page that tries every way that a page has to reach a server, and a server that notes who came. */

import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Site } from './browsing.ts'

/** Ways that end in a request, whose path names them. */
export const WAYS = [
  'redirect',
  'img',
  'iframe',
  'css',
  'xhr',
  'fetch',
  'websocket',
  'eventsource',
  'beacon',
  'popup',
  'service-worker',
  'prefetch',
] as const

/** Listens at one port of several addresses: for HTTP, and for UDP at the same port. */
export class Inside {
  /** `<way> <target>` of all requests. */
  readonly hits = new Set<string>()
  /** Connections and packets, by the address that they came to. */
  readonly contacts = new Map<string, number>()
  readonly #servers: Server[] = []
  readonly #udp: UdpSocket[] = []
  port = 0

  static async start(addresses: readonly string[]): Promise<Inside> {
    const inside = new Inside()
    for (const address of addresses) await inside.#listen(address)
    return inside
  }

  async #listen(address: string): Promise<void> {
    const note = (asked: IncomingMessage) => {
      const [, hit, way, target] = asked.url!.split('/')
      if (hit === 'hit') this.hits.add(`${way} ${target}`)
    }
    const contact = () => void this.contacts.set(address, (this.contacts.get(address) ?? 0) + 1)
    const server = createServer((asked, answer) => {
      note(asked)
      const type = asked.url!.includes('/eventsource/') ? 'text/event-stream' : 'text/plain'
      answer.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': type }).end('inside')
    })
    server.on('upgrade', (asked, socket) => {
      note(asked)
      socket.destroy()
    })
    server.on('connection', contact)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.port, address, resolve)
    })
    this.port = (server.address() as AddressInfo).port
    this.#servers.push(server)
    const udp = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    udp.on('message', contact)
    await new Promise<void>((resolve, reject) => {
      udp.once('error', reject)
      udp.bind(this.port, address, resolve)
    })
    this.#udp.push(udp)
  }

  /** Contacts at one address. */
  contactsAt(address: string): number {
    return this.contacts.get(address) ?? 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const udp of this.#udp) udp.close()
    for (const server of this.#servers) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

/**
 * Has the site serve a page that tries all ways to the targets. Returns its URL, at a name: service workers need one that browsers trust, as
 * they do this.
 *
 * @param targets `host:port` by name
 */
export function serveWays(site: Site, targets: Readonly<Record<string, string>>): string {
  site.page('/to', (asked, answer) =>
    answer.writeHead(302, { location: asked.url!.slice(asked.url!.indexOf('?') + 1) }).end(),
  )
  site.page('/worker.js', (_, answer) =>
    answer.writeHead(200, { 'content-type': 'text/javascript' }).end(workerOfWays(targets)),
  )
  site.html('/ways', pageOfWays(targets))
  return `http://outside.localhost:${site.port}/ways`
}

function pageOfWays(targets: Readonly<Record<string, string>>): string {
  return `<!doctype html><title>ways</title><body><script>
const targets = ${JSON.stringify(targets)}
const add = (name, parts) => document.body.append(Object.assign(document.createElement(name), parts))
for (const [name, place] of Object.entries(targets)) {
  const to = (way) => 'http://' + place + '/hit/' + way + '/' + name
  add('img', { src: '/to?' + to('redirect') })
  add('img', { src: to('img') })
  add('iframe', { src: to('iframe') })
  add('link', { rel: 'stylesheet', href: to('css') })
  const xhr = new XMLHttpRequest(); xhr.open('GET', to('xhr')); xhr.send()
  fetch(to('fetch'), { mode: 'no-cors' }).catch(() => {})
  new WebSocket(to('websocket').replace('http', 'ws'))
  new EventSource(to('eventsource'))
  navigator.sendBeacon(to('beacon'), 'x')
  window.open(to('popup'), name)
  add('link', { rel: 'prefetch', href: to('prefetch') })
  add('link', { rel: 'preconnect', href: 'http://' + place })
  add('link', { rel: 'dns-prefetch', href: '//' + place.split(':')[0] })
  try {
    const peer = new RTCPeerConnection({ iceServers: [
      { urls: 'stun:' + place }, { urls: 'turn:' + place + '?transport=tcp', username: 'u', credential: 'c' } ] })
    peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer))
  } catch {}
}
add('iframe', { src: 'file:///etc/hostname' })
fetch('file:///etc/hostname').catch(() => {})
navigator.serviceWorker?.register('/worker.js')
</script>`
}

/** What the service worker of that page runs. */
function workerOfWays(targets: Readonly<Record<string, string>>): string {
  return `oninstall = (event) => event.waitUntil(Promise.all(Object.entries(${JSON.stringify(targets)}).map(
    ([name, place]) => fetch('http://' + place + '/hit/service-worker/' + name, { mode: 'no-cors' }).catch(() => {}))))`
}
