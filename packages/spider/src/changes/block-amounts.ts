/**
 * Amounts of money in a block whose other words do not count: a footer of a card, a buy box that stands aside, the options of a form.
 *
 *     € 24  € 19  [terms]  [wish list]            a product: its amounts count
 *     [chair] € 40  [lamp] € 15  [table] € 90     a list of other products, which is another one at each visit: none counts
 *
 * In a list of products there is a link before each price.
 */

import { masked } from './masked-text.ts'

// Not in the raw texts below, which stay as they are when the package is built: letters that need two bytes make V8 keep the
// whole package's text with two for each.
const [ZLOTY, KORUNA, RUBLE, APOSTROPHE] = ['zł', 'Kč', 'руб', '’']

const CURRENCY = String.raw`(?:[A-Z]{0,2}\p{Sc}|(?:EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|RUB|TRY|ZAR|SEK|NOK|DKK|PLN|CZK|HUF|RON|AUD|CAD|NZD|S?Fr\.|kr\.?|${ZLOTY}|${KORUNA}|Ft|lei|${RUBLE}\.?)(?![\p{L}\d]))`
// Cents may be an element of their own: `€ <b>19</b><sup>90</sup>`.
const NUMBER = String.raw`(?<![\d.,])\d[\d.,${APOSTROPHE}']{0,15}(?: \d{3}(?!\d)){0,3}(?: \d\d(?!\d))?`
const AMOUNT = String.raw`(?<!\p{L})${CURRENCY} ?-?${NUMBER}|${NUMBER} ?${CURRENCY}`
const MAY_HAVE_AMOUNT = new RegExp(CURRENCY, 'u')

// Characters that no page shows.
const LINK = '\u0001'
const VALUE = '\u0002'
const PIECES = new RegExp(`${LINK}|${VALUE}[^${VALUE}]*${VALUE}|${AMOUNT}`, 'gu')

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&euro;', '€'],
  ['&#8364;', '€'],
  ['&pound;', '£'],
  ['&#163;', '£'],
  ['&yen;', '¥'],
  ['&dollar;', '$'],
  ['&#36;', '$'],
  ['&nbsp;', ' '],
  ['&#160;', ' '],
])

export class BlockAmounts {
  readonly #parts: string[] = []

  link(): void {
    this.#parts.push(LINK)
  }

  text(text: string): void {
    this.#parts.push(text)
  }

  /** A price in an attribute. */
  value(value: string): void {
    this.#parts.push(`${VALUE}${value}${VALUE}`)
  }

  /** Returns what counts, and begins the next block. */
  taken(): string[] {
    const written = this.#parts.splice(0).join(' ')
    const said = written.includes('&')
      ? written.replaceAll(/&#?\w+;/g, (entity) => ENTITIES.get(entity) ?? entity)
      : written
    if (!said.includes(VALUE) && !MAY_HAVE_AMOUNT.test(said)) return []
    const amounts: string[] = []
    let products = 0
    let isBehindLink = false
    for (const [piece] of masked(said.replaceAll(/\s+/g, ' ')).matchAll(PIECES)) {
      if (piece !== LINK) {
        if (isBehindLink) products++
        amounts.push(piece.replaceAll(VALUE, ''))
      }
      isBehindLink = piece === LINK
    }
    return products > 1 ? [] : amounts
  }
}
