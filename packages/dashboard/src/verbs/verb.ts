/**
 * What can be asked of crawls and told to them, each thing once: from these are made the routes of the HTTP API, its OpenAPI document
 * and the tools of MCP. So all of them have the same words, take the same and do the same.
 */

import type { CrawlDesk, CrawlDesks } from '@webloom/core'
import { Refusal } from './refusal.ts'
import type { ObjectSchema } from './schema.ts'
import { schemaProblem } from './schema-problem.ts'

interface VerbWords {
  /** Of a tool and an operation: `failed_retry`. */
  readonly name: string
  /** Half a sentence. */
  readonly summary: string
  /** What follows, for whoever has not read the docs. */
  readonly description?: string
  /** What it takes beside the crawl's id. */
  readonly input: ObjectSchema
  readonly answer: ObjectSchema
}

/** Of all crawls. */
export interface VerbOfAll extends VerbWords {
  readonly of: 'all'
  readonly method: 'get'
  /** Behind `/api`. */
  readonly path: string
  readonly act: (desks: CrawlDesks) => Promise<object>
}

/** Of one crawl. */
export interface VerbOfOne<Input extends object = object> extends VerbWords {
  readonly of: 'one'
  /** `post`: it changes something, and needs `--control`. */
  readonly method: 'get' | 'post'
  /** Behind `/api/crawls/{id}`. */
  readonly path: string
  /** True for what cannot be undone. */
  readonly isFinal?: boolean
  /** Undefined: this crawl cannot tell it, or be told it. A method, so that a list may hold verbs of any input. */
  act(desk: CrawlDesk, input: Input): Promise<object> | undefined
}

export type Verb = VerbOfAll | VerbOfOne

export interface VerbsOptions {
  readonly desks: CrawlDesks
  /** False: verbs that change something are refused. */
  readonly control: boolean
}

/** The caller of a verb: `line` is the command that starts it, `part` what its input is called there. */
export interface Caller {
  readonly line: 'webloom dash' | 'webloom mcp'
  readonly part: string
}

const ID_CHARS_MAX = 512

/**
 * Does what the verb says, after all was checked.
 *
 * @param id of the crawl, for a verb of one
 * @throws Refusal, and what the desk throws
 */
export async function runVerb(
  verb: Verb,
  { desks, control }: VerbsOptions,
  { line, part }: Caller,
  id: string,
  input: unknown,
): Promise<object> {
  if (verb.method === 'post' && !control) throw readOnly(verb, line)
  const problem = schemaProblem(verb.input, input)
  if (problem) throw badInput(part, problem.where, problem.what)
  if (verb.of === 'all') return verb.act(desks)
  const desk = id.length <= ID_CHARS_MAX ? await desks.desk(id) : undefined
  if (!desk) throw unknownCrawl(id)
  const answer = verb.act(desk, input as object)
  if (!answer) throw cannotBeTold(verb, desk)
  return answer
}

export function badInput(part: string, where: string, what: string): Refusal {
  const at = where === '' ? part : `${part}.${where}`
  return new Refusal(400, `${at} ${what}`, at)
}

function readOnly({ name }: Verb, line: Caller['line']): Refusal {
  return new Refusal(
    403,
    `${name} changes something, and this is read-only. Start it with:  ${line} --control`,
  )
}

function unknownCrawl(id: string): Refusal {
  const shown = JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id)
  return new Refusal(404, `there is no crawl ${shown}; the verb crawls lists those that there are`, 'id')
}

function cannotBeTold({ name, method }: Verb, { id }: CrawlDesk): Refusal {
  const what = method === 'post' ? 'cannot be told' : 'cannot tell'
  return new Refusal(404, `the crawl ${JSON.stringify(id)} ${what} ${name} here`)
}
