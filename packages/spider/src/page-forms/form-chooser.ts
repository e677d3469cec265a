/**
 * In which form a page is fetched whose request leaves that to the crawl (`meta.browser: 'auto'`).
 *
 *     a label is known of its shape    that form; one page in RECHECK_EVERY is probed all the same
 *     none                             HTTP first. Then as many pages are probed at once as verdicts are missing for a label; the others
 *                                      have been fetched, and wait for it
 *
 * A label is a verdict that VERDICTS_MAX probes in a row have had. Without that wait all pages that are under way when a site is first met
 * would be rendered.
 */

import {
  type Awaitable,
  type FormVerdicts,
  type PageForm,
  type PageForms,
  type Request,
  VERDICTS_MAX,
  withVerdict,
} from '@webloom/core'
import { pageShape } from './page-shape.ts'

/** A page in 50 costs a rendered site 2 % more requests, and a static one 2 % of its pages rendered. */
const RECHECK_EVERY = 50
/** What other workers have learned is asked for again after that. */
const FRESH_MS = 10_000
/** How many shapes are known here; what was forgotten is asked for again. */
const SHAPES_MAX = 4096

/** How the page is fetched first. With a gate, that may not be all: `begin` is called when the page has come. */
export interface FormPlan {
  readonly form: PageForm
  readonly gate?: ProbeGate
}

/** Tells which form a page needs, or that it is probed to find out. `end` must be called once `begin` was. */
export interface ProbeGate {
  /** Resolves to the form that the page needs; `both`: it is to be probed. */
  begin(): Promise<PageForm | 'both'>
  /** @param verdict of the probe; absent: it has none */
  end(verdict?: PageForm): Promise<void>
}

/** What is known of a shape here. */
interface KnownShape {
  readonly shape: string
  verdicts: FormVerdicts | undefined
  readAtMs: number
  /** Pages since the label is known. */
  pages: number
  probing: number
  /** Wakes those that wait for a verdict. */
  waiting: (() => void)[]
}

export class FormChooser {
  readonly #forms: PageForms
  readonly #onTrouble: (error: unknown) => void
  // The first entry is the one used longest ago.
  readonly #known = new Map<string, KnownShape>()

  /** @param onTrouble told of an error of `forms`: what this process knows must do then */
  constructor(forms: PageForms, onTrouble: (error: unknown) => void) {
    this.#forms = forms
    this.#onTrouble = onTrouble
  }

  async plan({ url }: Request): Promise<FormPlan> {
    const known = await this.#of(pageShape(url))
    const label = labelOf(known)
    if (label === undefined) return { form: 'http', gate: this.#gate(known) }
    const isRecheck = ++known.pages % RECHECK_EVERY === 0
    return isRecheck ? { form: 'http', gate: this.#recheck(known) } : { form: label }
  }

  #gate(known: KnownShape): ProbeGate {
    let isProbing = false
    return {
      begin: async () => {
        for (;;) {
          const label = labelOf(known)
          if (label !== undefined) return label
          if (known.probing < VERDICTS_MAX - (known.verdicts?.agreeing ?? 0)) break
          await new Promise<void>((resolve) => known.waiting.push(resolve))
        }
        known.probing++
        isProbing = true
        return 'both'
      },
      end: async (verdict) => {
        if (!isProbing) return
        try {
          if (verdict) await this.#learn(known, verdict)
        } finally {
          known.probing--
          for (const wake of known.waiting.splice(0)) wake()
        }
      },
    }
  }

  #recheck(known: KnownShape): ProbeGate {
    return {
      begin: async () => 'both',
      end: async (verdict) => {
        if (verdict) await this.#learn(known, verdict)
      },
    }
  }

  async #learn(known: KnownShape, verdict: PageForm): Promise<void> {
    const stored = await this.#stored(() => this.#forms.learn(known.shape, verdict))
    known.verdicts = stored ?? withVerdict(known.verdicts, verdict)
    known.readAtMs = performance.now()
    if (labelOf(known) === undefined) known.pages = 0
  }

  async #of(shape: string): Promise<KnownShape> {
    const known = this.#known.get(shape) ?? newShape(shape)
    this.#known.delete(shape)
    this.#known.set(shape, known)
    if (this.#known.size > SHAPES_MAX) this.#known.delete(this.#known.keys().next().value!)
    const nowMs = performance.now()
    if (nowMs - known.readAtMs < FRESH_MS) return known
    known.readAtMs = nowMs
    const stored = await this.#stored(() => this.#forms.of(shape))
    if (stored) known.verdicts = stored
    return known
  }

  /** Resolves to undefined where the store does not know the shape, or cannot be reached. */
  async #stored(ask: () => Awaitable<FormVerdicts | undefined>): Promise<FormVerdicts | undefined> {
    try {
      return await ask()
    } catch (error) {
      this.#onTrouble(error)
      return undefined
    }
  }
}

function newShape(shape: string): KnownShape {
  return {
    shape,
    verdicts: undefined,
    readAtMs: Number.NEGATIVE_INFINITY,
    pages: 0,
    probing: 0,
    waiting: [],
  }
}

function labelOf({ verdicts }: KnownShape): PageForm | undefined {
  return verdicts && verdicts.agreeing >= VERDICTS_MAX ? verdicts.form : undefined
}
