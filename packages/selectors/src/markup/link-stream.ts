/**
 * The links of a page without a tree. What tags are is read by `MarkupReader`, which others may extend as this does.
 */

import { MarkupReader } from './markup-reader.ts'

/** Which elements' `href` is taken. */
export type LinkElements = 'a' | 'a, area'

/** Returns every `href` of these elements, decoded, in document order; no more than `most` are looked for. */
export function streamHrefs(html: string, elements: LinkElements, most = Number.POSITIVE_INFINITY): string[] {
  return new HrefReader(html, elements === 'a, area', most).hrefs()
}

class HrefReader extends MarkupReader {
  readonly #areas: boolean
  readonly #most: number
  readonly #hrefs: string[] = []

  constructor(html: string, areas: boolean, most: number) {
    super(html)
    this.#areas = areas
    this.#most = most
  }

  hrefs(): string[] {
    this.read()
    return this.#hrefs
  }

  protected override wantsAttributes(nameStart: number, nameEnd: number): boolean {
    const length = nameEnd - nameStart
    return (
      (length === 1 && this.isWord('a', nameStart)) ||
      (this.#areas && length === 4 && this.isWord('area', nameStart))
    )
  }

  protected override startTag(nameStart: number, nameEnd: number): void {
    if (!this.wantsAttributes(nameStart, nameEnd)) return
    const href = this.attribute('href')
    if (href === undefined) return
    this.#hrefs.push(href)
    if (this.#hrefs.length >= this.#most) this.stop()
  }
}
