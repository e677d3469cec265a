/**
 * How a request stands in Redis, whoever carries it:
 *
 *     id                              as the crawl knows it
 *     attempt:kills:rejections:suspect  its tries, whole numbers; an empty line stands for 1:0:0:0
 *     {"v":1,"url":…}                 its JSON form
 *
 * A link that is set aside in doubt has `by <asker>` in the place of its tries: the page that has met it.
 *
 * So a script raises one of them without reading the JSON, and most requests cost two bytes more than id and JSON. Numbers go
 * through no Lua table on the way: cjson would make 1e14 + 1 of them something else, and `{}` of an empty list.
 */

import { type QueuedRequest, type Request, requestFromJson, requestToJson, WebloomError } from '@webloom/core'

/** What happened to a request on its way through the workers. */
export interface PackedTries {
  /** 1 until a lease of it was lost. */
  readonly attempt: number
  /** How many workers died while they ran it alone. */
  readonly kills: number
  /** How many workers in a row have rejected it. */
  readonly rejections: number
  /** True when it was in flight as its worker died: its next worker runs it alone. */
  readonly suspect: boolean
}

export const UNTRIED: PackedTries = { attempt: 1, kills: 0, rejections: 0, suspect: false }

/** A request as it came out of Redis; `unreadable` says why this release cannot make one of it. */
export type Unpacked = { readonly id: string; readonly tries: PackedTries; readonly inDoubt?: string } & (
  | { readonly request: Request; readonly unreadable?: never }
  | { readonly unreadable: string; readonly request?: never }
)

/** Throws WL_REQUEST_INVALID for an id of several lines: a FINGERPRINTER of the user's own made it. */
export function packRequest(
  { id, request, inDoubt }: QueuedRequest,
  tries: Partial<PackedTries> = {},
): string {
  if (id.includes('\n'))
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      `the id ${JSON.stringify(id)} has a line break; a FINGERPRINTER must answer with one line`,
    )
  const line = inDoubt === undefined ? packTries({ ...UNTRIED, ...tries }) : `by ${inDoubt}`
  return `${id}\n${line}\n${JSON.stringify(requestToJson(request))}`
}

/** Never throws: a request that cannot be read is another release's, and is rejected. */
export function unpackRequest(text: string): Unpacked {
  const { id, triesLine, json } = linesOf(text)
  const tries = unpackTries(triesLine)
  const place = triesLine.startsWith('by ') ? { id, tries, inDoubt: triesLine.slice(3) } : { id, tries }
  try {
    return { ...place, request: requestFromJson(JSON.parse(json)) }
  } catch (error) {
    return { ...place, unreadable: error instanceof Error ? error.message : String(error) }
  }
}

/** Returns the request's JSON form. */
export function jsonOf(text: string): string {
  return linesOf(text).json
}

/** Returns the same request with its tries changed. */
export function withTries(text: string, tries: Partial<PackedTries>): string {
  const { id, triesLine, json } = linesOf(text)
  return `${id}\n${packTries({ ...unpackTries(triesLine), ...tries })}\n${json}`
}

function linesOf(text: string): { id: string; triesLine: string; json: string } {
  const idEnd = endOfLine(text, 0)
  const triesEnd = endOfLine(text, idEnd + 1)
  return {
    id: text.slice(0, idEnd),
    triesLine: text.slice(idEnd + 1, triesEnd),
    json: text.slice(triesEnd + 1),
  }
}

function packTries({ attempt, kills, rejections, suspect }: PackedTries): string {
  const line = `${attempt}:${kills}:${rejections}:${suspect ? 1 : 0}`
  return line === '1:0:0:0' ? '' : line
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from)
  return at < 0 ? text.length : at
}

function unpackTries(line: string): PackedTries {
  if (line === '') return UNTRIED
  const [, attempt, kills, rejections, suspect] = /^(\d+):(\d+):(\d+):([01])$/.exec(line) ?? []
  if (attempt === undefined) return UNTRIED
  return {
    attempt: Number(attempt),
    kills: Number(kills),
    rejections: Number(rejections),
    suspect: suspect === '1',
  }
}
