import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Target } from '../graph/graph.ts'
import type { BodyEncoding, FakeWebPlan, HangingPage, PagePlace } from '../graph/options.ts'
import { chance } from '../graph/random.ts'
import { type Site, targetAt, urlOf } from '../graph/urls.ts'
import { accepts, Bodies, codingOf } from '../pages/bodies.ts'
import { errorHtml } from '../pages/page-html.ts'

/** What is answered, and where the answering stops short; absent when it is sent to its end. */
interface Answer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
  readonly stops?: 'reset' | NonNullable<HangingPage['after']>
}

/** Answers requests as the graph says. It remembers finished bodies, and how often each flaky page has failed. */
export class Answers {
  readonly #site: Site
  readonly #plan: FakeWebPlan
  readonly #bodies: Bodies
  readonly #failures = new Map<string, number>()

  constructor(site: Site) {
    this.#site = site
    this.#plan = site.graph.plan
    this.#bodies = new Bodies(site, this.#plan.cacheBytesMax)
  }

  /** Sends the answer of a path, when its latency is over. */
  answer(host: number, path: string, request: IncomingMessage, response: ServerResponse): void {
    const target = targetAt(host, path, this.#plan)
    const latencyMs =
      target?.kind === 'page' || target?.kind === 'hop' ? this.#site.graph.latencyMs(target) : 0
    const reply = () =>
      send(target ? this.#targetAnswer(target, request) : this.#otherAnswer(host, path), response)
    if (latencyMs === 0) {
      reply()
    } else {
      const timer = setTimeout(reply, latencyMs)
      response.once('close', () => clearTimeout(timer))
    }
  }

  #targetAnswer(target: Target, request: IncomingMessage): Answer {
    switch (target.kind) {
      case 'image':
        return { status: 200, headers: headersOf('image/png', ONE_PIXEL), body: ONE_PIXEL }
      case 'hop':
        return this.#hopAnswer(target)
      case 'page':
        return this.#pageAnswer(target, request)
    }
  }

  #otherAnswer(host: number, path: string): Answer {
    const { robotsTxt } = this.#plan
    const rules = typeof robotsTxt === 'string' ? robotsTxt : robotsTxt[host]
    if (path !== '/robots.txt' || rules === undefined) return errorAnswer(404)
    const body = Buffer.from(rules)
    return { status: 200, headers: headersOf('text/plain; charset=utf-8', body), body }
  }

  #hopAnswer(hop: Target): Answer {
    const location = urlOf({ ...hop, kind: 'page' }, this.#site)
    const body = Buffer.from('<!doctype html>\n<p>moved</p>\n')
    const headers = { ...headersOf(HTML, body), Location: location }
    return { status: this.#site.graph.hopStatus(hop), headers, body }
  }

  #pageAnswer(place: PagePlace, request: IncomingMessage): Answer {
    const { graph } = this.#site
    const hanging = graph.hanging(place)
    if (hanging !== undefined)
      return { ...this.#goodAnswer(place, 'identity'), stops: hanging.after ?? 'nothing' }
    const status = graph.status(place)
    if (status !== 200) return errorAnswer(status)
    if (!this.#failsNow(place)) return this.#goodAnswer(place, this.#encodingFor(place, request))
    return graph.flakyWith(place) === 'reset' ? { ...errorAnswer(503), stops: 'reset' } : errorAnswer(503)
  }

  #goodAnswer(place: PagePlace, encoding: BodyEncoding): Answer {
    const body = this.#bodies.of(place, encoding)
    const headers = headersOf(HTML, body)
    if (encoding !== 'identity') headers['Content-Encoding'] = codingOf(encoding)
    return { status: 200, headers, body }
  }

  #failsNow(place: PagePlace): boolean {
    const times = this.#site.graph.flakyTimes(place)
    if (times === 0) return false
    const key = `${place.host}/${place.page}`
    const failed = this.#failures.get(key) ?? 0
    this.#failures.set(key, failed + 1)
    return failed < times
  }

  #encodingFor({ host, page }: PagePlace, { headers }: IncomingMessage): BodyEncoding {
    const { encoding, seed } = this.#plan
    const encodings = typeof encoding === 'string' ? [encoding] : encoding
    const drawn = encodings[Math.floor(chance(seed, ENCODING, host, page) * encodings.length)] ?? 'identity'
    return accepts(headers['accept-encoding'], codingOf(drawn)) ? drawn : 'identity'
  }
}

const ENCODING = 201
const HTML = 'text/html; charset=utf-8'

// A transparent PNG of one pixel.
const ONE_PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

function headersOf(type: string, body: Buffer): OutgoingHttpHeaders {
  return { 'Content-Type': type, 'Content-Length': body.length }
}

function errorAnswer(status: number): Answer {
  const body = Buffer.from(errorHtml(status))
  return { status, headers: headersOf(HTML, body), body }
}

/** An answer that stops short leaves the connection open until the client goes or the web closes, unless it is reset. */
function send({ status, headers, body, stops }: Answer, response: ServerResponse): void {
  if (stops === 'reset') response.socket?.resetAndDestroy()
  if (stops === 'reset' || stops === 'nothing') return
  response.writeHead(status, headers)
  if (stops === undefined) response.end(body)
  else response.flushHeaders()
  if (stops === 'half-body') response.write(body.subarray(0, body.length / 2))
}
