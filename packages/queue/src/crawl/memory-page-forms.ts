import { type FormVerdicts, type PageForm, type PageForms, withVerdict } from '@webloom/core'

// Some 200 bytes each. A site has tens.
const SHAPES_MAX = 4096

/** The verdicts of a crawl of one process. Shapes that were used longest ago are forgotten first. */
export class MemoryPageForms implements PageForms {
  // The first entry is the one used longest ago.
  readonly #verdicts = new Map<string, FormVerdicts>()
  readonly #shapesMax: number

  constructor(shapesMax = SHAPES_MAX) {
    this.#shapesMax = shapesMax
  }

  of(shape: string): FormVerdicts | undefined {
    const verdicts = this.#verdicts.get(shape)
    if (verdicts) this.#set(shape, verdicts)
    return verdicts
  }

  learn(shape: string, form: PageForm): FormVerdicts {
    const verdicts = withVerdict(this.#verdicts.get(shape), form)
    this.#set(shape, verdicts)
    return verdicts
  }

  #set(shape: string, verdicts: FormVerdicts): void {
    this.#verdicts.delete(shape)
    this.#verdicts.set(shape, verdicts)
    if (this.#verdicts.size > this.#shapesMax) this.#verdicts.delete(this.#verdicts.keys().next().value!)
  }
}
