/** What changes on a page with every visit and means nothing, in texts of any kind. */

const DAY = String.raw`(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|(?:\w{3,9}\.?,? )?(?:\d{1,2}(?:st|nd|rd|th)?\.? [A-Za-z]{3,9}\.?|[A-Za-z]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?),? \d{4})`
const CLOCK = String.raw`\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?(?: ?(?:Z|UTC|GMT|[A-Z]{2,4}T|[+-]\d\d:?\d\d))?`

const MASKS: readonly RegExp[] = [
  // A day with a time: when the page was made. A day alone may be what it is about.
  new RegExp(`${DAY}(?:T|,? (?:at )?)${CLOCK}`, 'g'),
  new RegExp(
    String.raw`\b(?:updated|generated|rendered|modified|refreshed|retrieved|as of|today is)\b[:,]?(?: (?:on|at))? ?(?:${DAY}|${CLOCK})`,
    'gi',
  ),
  /\b\d{1,2}:\d\d:\d\d\b/g,
  /\b(?:an?|\d+|just|few) ?(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|moments?) ago\b|\bjust now\b/gi,
  // Without spaces in the number: the price before it would be a part of it.
  /\b\d[\d.,\u00a0\u202f]{0,11} (?:views?|visitors?|readers?|users? online|people (?:are )?(?:viewing|watching|online))\b/gi,
  // Seconds and milliseconds since 1970.
  /\b1[5-9]\d{8}(?:\d{3})?\b/g,
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  // Tokens: long, and of letters and digits; no word, number or price is.
  /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,}\b/gi,
  /(?<![\w+/=-])(?=[\w+/-]*\d)(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])[\w+/-]{20,128}={0,2}(?![\w+/=-])/g,
]

// A moment behind such a word is what the page is about, unless it may be a countdown.
const OF_AN_EVENT =
  /\b(?:ends?|ending|starts?|starting|begins?|beginning|departs?|departure|departing|arrives?|arrival|arriving|opens?|closes?|until|due|deadline)(?:[ _]?(?:at|on|by|time|date))?[\s"':=]{0,4}$/i
const EVENT_WORD_MAX = 24
const COUNTDOWN = /^\d{1,2}:\d\d:(?!00)\d\d$/

/** Returns the text with a dot in place of each of these. */
export function masked(text: string): string {
  let left = text
  for (const mask of MASKS)
    left = left.replaceAll(mask, (found: string, at: number, whole: string) =>
      isOfAnEvent(found, whole.slice(Math.max(0, at - EVENT_WORD_MAX), at)) ? found : '·',
    )
  return left
}

function isOfAnEvent(found: string, before: string): boolean {
  return found.includes(':') && OF_AN_EVENT.test(before) && !COUNTDOWN.test(found)
}
