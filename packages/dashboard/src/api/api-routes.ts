/** `/api`: a route for each verb, and the OpenAPI document that tells of them. */

import type { CrawlDesks } from '@webloom/core'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { sameSiteOnly } from '../serving/same-site.ts'
import { answerText } from '../verbs/answer-text.ts'
import { Refusal, refusalOf } from '../verbs/refusal.ts'
import { badInput, runVerb, type Verb, type VerbsOptions } from '../verbs/verb.ts'
import { VERBS } from '../verbs/verbs.ts'
import { openApiDocument } from './openapi.ts'
import { queryInput } from './query-input.ts'

export interface ApiOptions {
  readonly desks: CrawlDesks
  /** False: verbs that change something are refused. */
  readonly control: boolean
  /** The server asks for a token; the document says so. The routes do not check it themselves. */
  readonly hasToken?: boolean
}

/** Room for as many ids as a filter may have. */
const BODY_BYTES_MAX = 256 * 1024

/** Without `/api`, where it is to be mounted. Whoever mounts it checks the token and the name that it is called by. */
export function apiRoutes({ desks, control, hasToken = false }: ApiOptions): Hono {
  const api = new Hono()
  api.use(noStore, sameSiteOnly())
  api.use(bodyLimit({ maxSize: BODY_BYTES_MAX, onError: () => refuseBody() }))
  for (const verb of VERBS)
    api.on(verb.method, routeOf(verb), async (c) =>
      c.body(await answer(c, verb, { desks, control }), 200, JSON_TYPE),
    )
  const document = openApiDocument(VERBS, { control, hasToken })
  api.get('/openapi.json', (c) => c.json(document))
  // Not `notFound`, which a part of an app does not have.
  api.all('*', (c) => refuse(c, nothingHere(c)))
  api.onError((error, c) => refuse(c, refusalOf(error)))
  return api
}

const JSON_TYPE = { 'Content-Type': 'application/json; charset=UTF-8' }

/** Returns the verb's address as the router takes it: `/crawls/:id/failed/retry`. */
export function routeOf(verb: Verb): string {
  return verb.of === 'all' ? verb.path : `/crawls/:id${verb.path}`
}

async function answer(c: Context, verb: Verb, options: VerbsOptions): Promise<string> {
  const isGet = verb.method === 'get'
  const input = isGet ? queryInput(verb.input, c.req.queries()) : await bodyInput(c)
  const caller = { line: 'webloom dash', part: isGet ? 'query' : 'body' } as const
  return answerText(await runVerb(verb, options, caller, c.req.param('id') ?? '', input))
}

/** A body that is empty is one that says nothing. */
async function bodyInput(c: Context): Promise<unknown> {
  if (Object.keys(c.req.query()).length > 0)
    throw badInput('query', '', 'is not read; what a verb that changes something takes is in the body')
  const text = await c.req.text()
  try {
    return text === '' ? {} : (JSON.parse(text) as unknown)
  } catch (error) {
    throw badInput('body', '', `is not JSON: ${(error as Error).message}`)
  }
}

const noStore: MiddlewareHandler = async (c, next) => {
  await next()
  c.res.headers.set('Cache-Control', 'no-store')
}

function refuse(c: Context, { status, message, where }: Refusal): Response {
  const error = { status, message, ...(where !== undefined && { where }) }
  if (status === 405) c.header('Allow', methodsAt(c).join(', '))
  return c.body(answerText({ error }), status, JSON_TYPE)
}

function refuseBody(): never {
  throw new Refusal(413, `the body is too long; ${BODY_BYTES_MAX} bytes are the most`, 'body')
}

function nothingHere(c: Context): Refusal {
  const methods = methodsAt(c)
  if (methods.length > 0)
    return new Refusal(405, `this path does not take ${c.req.method}; expected ${methods.join(' or ')}`)
  return new Refusal(404, 'the API has no such path; GET /api/openapi.json lists all paths')
}

/** Returns the methods that the address has, whatever the method of the request was. */
function methodsAt(c: Context): string[] {
  const path = c.req.path.replace(/^\/api(?=\/)/, '')
  const found = VERBS.filter((verb) => patternOf(verb).test(path)).map(({ method }) => method.toUpperCase())
  return path === '/openapi.json' ? ['GET'] : found
}

function patternOf(verb: Verb): RegExp {
  return new RegExp(`^${routeOf(verb).replace(':id', '[^/]+')}$`)
}
