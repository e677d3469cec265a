/**
 * How many pages a second the fake web serves: `node packages/testkit/src/web/serve-rate.bench.ts [seconds] [connections]`.
 *
 * The client is as cheap as one can be: it writes ready requests and counts bytes, so that the server's process
 * is the limit and a benchmark of a crawler knows what its server can do.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { startFakeWebProcess } from '../index.ts'

/** Every connection asks for its own share of the pages, over and over, until time or `rounds` are over. */
async function measure(name: string, rounds: number): Promise<void> {
  await web.resetHits()
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async (_, slot) => {
      const shares = web.origins.length
      const own = urls.filter((url) => web.origins.indexOf(url.origin) === slot % shares)
      await fetchAll(own, Math.floor(slot / shares), rounds, begun + seconds * 1_000)
    }),
  )
  const elapsed = (performance.now() - begun) / 1_000
  const hits = await web.hitCount()
  console.log(`${name}: ${hits} in ${elapsed.toFixed(2)} s = ${Math.round(hits / elapsed)} a second`)
}

async function fetchAll(pages: URL[], first: number, rounds: number, until: number): Promise<void> {
  const requests = pages.map(({ pathname, host }) => `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  const socket = connect({ host: pages[0]!.hostname, port: Number(pages[0]!.port), noDelay: true })
  await once(socket, 'connect')
  const stride = connections / web.origins.length
  const body = new BodyCounter(socket)
  for (let round = 0; round < rounds && performance.now() < until; round++) {
    await body.of(requests[(first + round * stride) % requests.length]!)
  }
  socket.destroy()
}

/** Reads one answer at a time: its header, then as many bytes as that says. */
class BodyCounter {
  readonly #socket: Socket
  #left = 0
  #answered: (() => void) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.#read(chunk))
  }

  of(request: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#answered = resolve
    this.#socket.write(request)
    return promise
  }

  #read(chunk: Buffer): void {
    if (this.#left === 0) {
      const body = chunk.indexOf('\r\n\r\n') + 4
      const length = /content-length: (\d+)/i.exec(chunk.toString('latin1', 0, body))?.[1]
      this.#left = body + Number(length)
    }
    this.#left -= chunk.length
    if (this.#left === 0) this.#answered!()
  }
}

const seconds = Number(process.argv[2] ?? 5)
const connections = Number(process.argv[3] ?? 32)
const web = await startFakeWebProcess({ hosts: 8, pagesPerHost: 1_000, hitHeaders: false })
const urls = [...web.reachable()].map((url) => new URL(url))
await measure('pages made on demand', urls.length / connections)
await measure('pages from memory', Number.POSITIVE_INFINITY)
await web.close()
