/**
 * Runs a page's callback on both forms of the page, and hands on one.
 *
 *     both yield the same            HTTP's
 *     they differ                    the rendered page's, unless only that one failed
 *     the browser leads elsewhere    HTTP's; where that yields nothing, the page that it leads to
 *
 * A run fails when the callback throws, or gets no response, as the status is an error. Then the probe has no verdict. Each run has
 * a request of its own, with copies of `meta` and `cbKwargs`; of the run that does not count nothing stays (`HeldEffects`).
 */

import { type Awaitable, type PageForm, Request } from '@webloom/core'
import type { Response } from '../responses/response.ts'
import { CallbackOutput, type HandOn, SpiderClosing } from '../scraping/callback-output.ts'
import type { Scraper } from '../scraping/scraper.ts'
import { type EffectsHold, HeldEffects } from './held-effects.ts'
import { outputDigest } from './output-digest.ts'

/** A page in one form, and what the crawl remembers of the answer when it counts. */
export interface FetchedForm<Result> {
  readonly result: Result
  readonly remembers: readonly (() => Awaitable<void>)[]
}

/** What is handed on, and what the probe says of such pages; no verdict when a run has failed. */
export interface ProbeOutcome {
  /** Its `response` is the form's. */
  readonly output: CallbackOutput
  readonly form: PageForm
  readonly verdict?: PageForm
}

interface Run {
  readonly output: CallbackOutput
  readonly effects: HeldEffects
  /** True when the output was handed on before the callback's end, as it was too much to keep. */
  readonly isHandedOn: boolean
  readonly closing?: SpiderClosing
}

export interface FormProbeOptions {
  readonly scraper: Pick<Scraper, 'scrape' | 'admit'>
  readonly hold: EffectsHold
  /** Gets what is too much to keep. */
  readonly handOn: HandOn
}

/** Rejects as `Scraper.scrape` does. */
export async function probeForms(
  http: FetchedForm<Response>,
  rendered: FetchedForm<Response | Request>,
  options: FormProbeOptions,
): Promise<ProbeOutcome> {
  const { hold } = options
  const first = await run(http, options)
  if (first.isHandedOn || first.closing) return counted(first, http, 'http', hold)
  const { result } = rendered
  if (result instanceof Request) {
    if (first.output.size > 0 || hasFailed(first)) return counted(first, http, 'http', hold)
    first.effects.drop()
    const output = new CallbackOutput()
    output.requests.push(...options.scraper.admit(result))
    await remember(rendered)
    return { output, form: 'rendered' }
  }
  const second = await run({ ...rendered, result }, options)
  const isSame = !second.isHandedOn && !second.closing && isAlike(first, second)
  const isHttp = isSame || (hasFailed(second) && !hasFailed(first) && !second.isHandedOn)
  const hasVerdict = !hasFailed(first) && !hasFailed(second) && !second.closing
  const verdict = hasVerdict ? { verdict: isSame ? ('http' as const) : ('rendered' as const) } : {}
  const other = isHttp ? second : first
  other.effects.drop()
  return isHttp
    ? { ...(await counted(first, http, 'http', hold)), ...verdict }
    : { ...(await counted(second, { ...rendered, result }, 'rendered', hold)), ...verdict }
}

async function run(
  fetched: FetchedForm<Response>,
  { scraper, hold, handOn }: FormProbeOptions,
): Promise<Run> {
  const effects = new HeldEffects()
  let isHandedOn = false
  const handOnEarly: HandOn = async (output) => {
    if (!isHandedOn) await remember(fetched)
    isHandedOn = true
    hold.release(effects)
    output.response = fetched.result
    await handOn(output)
  }
  try {
    const output = await hold.during(effects, () => scraper.scrape(fetched.result, handOnEarly))
    return { output, effects, isHandedOn }
  } catch (error) {
    if (!(error instanceof SpiderClosing)) throw error
    return { output: error.output, effects, isHandedOn, closing: error }
  }
}

function isAlike(first: Run, second: Run): boolean {
  return outputDigest(first.output) === outputDigest(second.output)
}

function hasFailed({ output }: Run): boolean {
  return output.failure !== undefined || output.givenUp !== undefined
}

/** Lets a run count. Throws what it has thrown. */
async function counted(
  { output, effects, isHandedOn, closing }: Run,
  fetched: FetchedForm<Response>,
  form: PageForm,
  hold: EffectsHold,
): Promise<ProbeOutcome> {
  hold.release(effects)
  if (!isHandedOn) await remember(fetched)
  output.response = fetched.result
  if (closing) throw closing
  return { output, form }
}

/** Has the crawl remember what the answer tells it beside the page. */
export async function remember({ remembers }: FetchedForm<unknown>): Promise<void> {
  for (const one of remembers) await one()
}
