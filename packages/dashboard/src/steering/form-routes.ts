/** What the buttons of the pages do: forms that say what a verb takes, for browsers with and without a script. */

import type { CrawlDesks } from '@webloom/core'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { queryInput } from '../api/query-input.ts'
import { ownFormsOnly } from '../serving/same-site.ts'
import { Refusal } from '../verbs/refusal.ts'
import { STEERING } from '../verbs/steering.ts'
import { runVerb } from '../verbs/verb.ts'
import { noteTold } from './told.ts'

const BODY_BYTES_MAX = 16 * 1024

/** Where a form says which page it stands on. */
export const BACK = 'back'

export interface FormRoutesOptions {
  readonly desks: CrawlDesks
  readonly control: boolean
  /** Called when a crawl was told something. */
  readonly onTold?: (id: string) => void
}

/** `POST /c/:id/do/:verb`. Throws a Refusal; whoever mounts it shows that. */
export function formRoutes({ desks, control, onTold }: FormRoutesOptions): Hono {
  const app = new Hono()
  app.use('/c/:id/do/*', ownFormsOnly(), bodyLimit({ maxSize: BODY_BYTES_MAX, onError: () => refuseBody() }))
  app.post('/c/:id/do/:verb', async (c) => {
    const { id, verb: name } = c.req.param()
    const verb = STEERING.find((one) => one.name === name)
    if (!verb) throw new Refusal(404, 'the dashboard has no such form')
    const { [BACK]: back = [], ...fields } = fieldsOf(await c.req.text())
    const input = queryInput(verb.input, inMilliseconds(fields))
    const caller = { line: 'webloom dash', part: 'form' } as const
    const answer = await runVerb(verb, { desks, control }, caller, id, nullsIn(input))
    onTold?.(id)
    noteTold(c, name, countIn(answer))
    // 303: whoever loads the page again does not send the form again.
    return c.redirect(pathHere(back[0]), 303)
  })
  return app
}

/** A path of this site, and nothing that a browser takes for another one. */
export function pathHere(path: string | undefined): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(path ?? '') ? path! : '/'
}

type Fields = Readonly<Record<string, readonly string[]>>

/** A field that is left empty says nothing. */
function fieldsOf(body: string): Fields {
  const params = new URLSearchParams(body)
  const names = [...new Set(params.keys())]
  const all = names.map((name) => [name, params.getAll(name).filter((text) => text !== '')] as const)
  return Object.fromEntries(all.filter(([, texts]) => texts.length > 0))
}

/** People think in seconds and minutes, and verbs take milliseconds. */
const UNITS: Readonly<Record<string, readonly [name: string, ms: number]>> = {
  delaySeconds: ['delayMs', 1000],
  pauseMinutes: ['pauseMs', 60_000],
}

function inMilliseconds(fields: Fields): Fields {
  const named = Object.entries(fields).map(([name, texts]) => {
    const [of, ms] = (Object.hasOwn(UNITS, name) && UNITS[name]) || [name, 0]
    if (ms === 0) return [name, texts]
    return [
      of,
      texts.map((text) => (Number.isFinite(Number(text)) ? String(Math.round(Number(text) * ms)) : text)),
    ]
  })
  return Object.fromEntries(named)
}

/** A form has no null: `none` takes back what was set. */
function nullsIn(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isTakenBack = (name: string, value: unknown) => name.endsWith('Ms') && value === 'none'
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, isTakenBack(name, value) ? null : value]),
  )
}

function countIn(answer: object): number {
  return Object.values(answer).find((value) => typeof value === 'number') ?? 0
}

function refuseBody(): never {
  throw new Refusal(413, `the form is too long; ${BODY_BYTES_MAX} bytes are the most`)
}
