/** The OpenAPI document: made from the verbs, so that it says what the routes do. */

import { object, type Schema, text } from '../verbs/schema.ts'
import type { Verb } from '../verbs/verb.ts'
import { VERSION } from '../version.ts'

export interface OpenApiOptions {
  readonly control: boolean
  readonly hasToken: boolean
}

/** Returns a document of OpenAPI 3.1, whose schemas are JSON Schema 2020-12. */
export function openApiDocument(verbs: readonly Verb[], { control, hasToken }: OpenApiOptions): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const verb of verbs) {
    const path = addressOf(verb)
    paths[path] = { ...paths[path], [verb.method]: operationOf(verb) }
  }
  const access = control
    ? 'Verbs that change something are allowed.'
    : 'Verbs that change something are refused: it was started without --control.'
  return {
    openapi: '3.1.0',
    info: {
      title: 'Webloom',
      version: VERSION,
      description: `Crawls of Webloom: what they do, and what they are told. ${access}`,
    },
    servers: [{ url: '/' }],
    ...(hasToken && { security: [{ token: [] }] }),
    paths,
    components: {
      schemas: { Refusal: REFUSAL },
      ...(hasToken && {
        securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'WEBLOOM_DASH_TOKEN' } },
      }),
    },
  }
}

/** `/api/crawls/{id}/pause` */
export function addressOf(verb: Verb): string {
  return verb.of === 'all' ? `/api${verb.path}` : `/api/crawls/{id}${verb.path}`
}

const REFUSAL = object<{ error: unknown }>({
  error: object<{ status: number; message: string; where?: string }>(
    {
      status: { type: 'integer' },
      message: text('what is wrong, and the way out'),
      where: text('which part of what was sent'),
    },
    ['where'],
  ),
})

function operationOf(verb: Verb): object {
  const { name, summary, description, method, input, answer } = verb
  const parameters = [
    ...(verb.of === 'one' ? [ID] : []),
    ...(method === 'get' ? Object.entries(input.properties).map(parameterOf(input.required)) : []),
  ]
  return {
    operationId: name,
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(method === 'post' && {
      requestBody: { required: input.required.length > 0, content: jsonOf(input) },
    }),
    responses: {
      200: { description: 'done', content: jsonOf(answer) },
      default: { description: 'why it was not', content: jsonOf({ $ref: '#/components/schemas/Refusal' }) },
    },
  }
}

const ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'of the crawl, as the verb crawls lists it',
  schema: { type: 'string' },
}

function parameterOf(required: readonly string[]) {
  return ([name, { description, ...schema }]: [string, Schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  })
}

function jsonOf(schema: object): object {
  return { 'application/json': { schema } }
}
