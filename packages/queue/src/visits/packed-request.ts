/**
 * An entry of the wheel: a page, and how to ask for it again, in some tens of bytes:
 *
 *     flags   1 the origin has a short name, 2 the form has one, 4 there is a chain, 8 there is a name, 16 the rest is packed
 *     name    8 bytes of the fingerprint under which the page is kept. What builds wrote that knew none of it has none
 *     origin  6 bytes of its hash, or its text and a line break     https://shop.example
 *     form    6 bytes of its hash, or its JSON and a line break     the request without its URL and chain
 *     chain   37 bytes, see packed-chain.ts                         meta.trap_chain, which no other page has
 *     rest    the URL after the origin, see short-url.ts
 *
 * What short names stand for is kept once for the crawl. An origin, or a form, gets one when a worker has met it several times: one of a
 * host with a single page would take more than it saves. They are made of hashes, so that all workers make the same.
 */

import { hash } from 'node:crypto'
import { type Request, type RequestJson, requestFromJson, requestToJson, WebloomError } from '@webloom/core'
import { CHAIN_BYTES, packChain, unpackChain } from './packed-chain.ts'
import { packShort, unpackShort } from './short-url.ts'

const ORIGIN_NAMED = 1
const FORM_NAMED = 2
const HAS_CHAIN = 4
const HAS_NAME = 8
const REST_PACKED = 16
const KNOWN_FLAGS = ORIGIN_NAMED | FORM_NAMED | HAS_CHAIN | HAS_NAME | REST_PACKED
/** Of a fingerprint's bytes: with 10 ** 8 pages one in 4 000 crawls has two that are taken for one. */
export const FINGERPRINT_BYTES = 8
const NAME_BYTES = 6
const TIMES_MET_MIN = 4
// Some megabytes for each worker. What is met past that is counted anew.
const TEXTS_MAX = 16_384
// What names stand for is kept on Redis while the crawl lives: some 100 bytes for each host, or form, of which a worker has met several pages.
const FORM_LENGTH_MAX = 512
const SECRET_HEADER = /auth|cookie|token|secret|api-?key/i

export class RequestPacker {
  /** How often origins and forms were met. Apart: forms of pages that all differ would keep hosts from being counted. */
  readonly #met = { origins: new Map<string, number>(), forms: new Map<string, number>() }
  /** Names that this process has sent or read; what they stand for. It saves questions: any of them may be gone the next moment. */
  readonly #texts = new Map<string, string>()
  readonly #textsMax: number

  constructor({ textsMax = TEXTS_MAX }: { readonly textsMax?: number } = {}) {
    this.#textsMax = textsMax
  }

  /**
   * @param name the page's
   * @param names gets the short names that the store may not know
   */
  pack(name: Buffer, request: Request, names: Map<string, string>): Buffer {
    const { url, ...whole } = requestToJson(request)
    const [form, chain] = withoutChain(whole)
    const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url)?.[0] ?? ''
    const formText = JSON.stringify(form)
    const originName = this.#nameOf(origin, this.#met.origins, names)
    const isOwn = formText.length > FORM_LENGTH_MAX || isSecret(form)
    const formName = isOwn ? undefined : this.#nameOf(formText, this.#met.forms, names)
    const rest = url.slice(origin.length)
    const short = packShort(rest)
    const isShort = short !== undefined && short.length < rest.length
    const flags = (originName ? ORIGIN_NAMED : 0) | (formName ? FORM_NAMED : 0) | (chain ? HAS_CHAIN : 0)
    return Buffer.concat([
      Buffer.of(flags | HAS_NAME | (isShort ? REST_PACKED : 0)),
      name,
      originName ?? Buffer.from(`${origin}\n`),
      formName ?? Buffer.from(`${formText}\n`),
      ...(chain ? [chain] : []),
      isShort ? short : Buffer.from(rest),
    ])
  }

  /** Returns the short names in these, with what they stand for; undefined for one that this process does not know. */
  namesIn(packed: readonly Buffer[]): Map<string, string | undefined> {
    const names = new Map<string, string | undefined>()
    for (const one of packed) {
      const { origin, form } = partsOf(one)
      for (const { name } of [origin, form]) if (name) names.set(keyOf(name), this.#texts.get(keyOf(name)))
    }
    return names
  }

  learn(name: string, text: string): void {
    this.#remember(name, text)
  }

  #nameOf(text: string, met: Map<string, number>, names: Map<string, string>): Buffer | undefined {
    const name = Buffer.from(hash('sha1', text), 'hex').subarray(0, NAME_BYTES)
    const key = keyOf(name)
    const known = this.#texts.get(key)
    if (known !== undefined) {
      if (known !== text) return undefined
      names.set(key, text)
      return name
    }
    const times = (met.get(text) ?? 0) + 1
    if (times < TIMES_MET_MIN) {
      if (met.size >= this.#textsMax) met.clear()
      met.set(text, times)
      return undefined
    }
    met.delete(text)
    this.#remember(key, text)
    names.set(key, text)
    return name
  }

  #remember(key: string, text: string): void {
    if (this.#texts.size >= this.#textsMax) this.#texts.clear()
    this.#texts.set(key, text)
  }
}

/**
 * Returns how to ask for the page. Throws for what no such packing is, or when a short name in it is not known.
 *
 * @param names what short names in it stand for
 */
export function unpackRequest(packed: Buffer, names: ReadonlyMap<string, string | undefined>): Request {
  const { origin, form, chain, rest } = partsOf(packed)
  const json = JSON.parse(textOf(form, names)) as Form
  const meta = chain && { ...json.meta, trap_chain: unpackChain(chain) }
  return requestFromJson({ ...json, ...(meta && { meta }), url: textOf(origin, names) + rest })
}

/** Returns the name under which the page is kept; undefined in what a build has packed that kept none. */
export function nameIn(packed: Buffer): Buffer | undefined {
  return (packed[0]! & HAS_NAME) === 0 ? undefined : packed.subarray(1, 1 + FINGERPRINT_BYTES)
}

/** Returns the same, of a page that is kept under another name. */
export function underName(packed: Buffer, name: Buffer): Buffer {
  const rest = packed.subarray(1 + (nameIn(packed)?.length ?? 0))
  return Buffer.concat([Buffer.of(packed[0]! | HAS_NAME), name, rest])
}

type Form = Omit<RequestJson, 'url'>

/** What a short name stands for outlives the pages that have it: a secret is to go with them. */
function isSecret({ h }: Form): boolean {
  return Object.keys(h ?? {}).some((name) => SECRET_HEADER.test(name))
}

/** A form with a chain that cannot be packed keeps it. */
function withoutChain(form: Form): [form: Form, chain: Buffer | undefined] {
  const { trap_chain, ...meta } = form.meta ?? {}
  const chain = packChain(trap_chain)
  return chain ? [{ ...form, meta }, chain] : [form, undefined]
}

function textOf({ name, text }: Part, names: ReadonlyMap<string, string | undefined>): string {
  const known = name ? names.get(keyOf(name)) : text
  if (known === undefined) throw new Error(`nothing is known of the short name ${name?.toString('hex')}`)
  return known
}

function keyOf(name: Buffer): string {
  return name.toString('latin1')
}

interface Part {
  readonly name?: Buffer
  readonly text: string
}

interface Parts {
  readonly origin: Part
  readonly form: Part
  readonly chain: Buffer | undefined
  readonly rest: string
}

function partsOf(packed: Buffer): Parts {
  const flags = packed[0]!
  if ((flags & ~KNOWN_FLAGS) !== 0)
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      'a page that is due is not written as this release does it, but as a build before RECRAWL was released: clear the crawl and begin it anew',
    )
  let at = 1 + (nameIn(packed)?.length ?? 0)
  const part = (isNamed: boolean): Part => {
    const end = isNamed ? at + NAME_BYTES : packed.indexOf('\n', at)
    const bytes = packed.subarray(at, end)
    at = isNamed ? end : end + 1
    return isNamed ? { name: bytes, text: '' } : { text: bytes.toString() }
  }
  const origin = part((flags & ORIGIN_NAMED) !== 0)
  const form = part((flags & FORM_NAMED) !== 0)
  const chain = (flags & HAS_CHAIN) === 0 ? undefined : packed.subarray(at, at + CHAIN_BYTES)
  const rest = packed.subarray(at + (chain?.length ?? 0))
  return { origin, form, chain, rest: (flags & REST_PACKED) === 0 ? rest.toString() : unpackShort(rest) }
}
