import { randomStream } from '../graph/random.ts'

const WORDS =
  `amber anchor apple autumn barrel basket beacon birch bridge bronze button cabin candle canvas carpet
castle cedar chapel cinder cloud cobalt copper coral cotton cradle crystal damask desert dragon drawer ember engine
falcon feather fennel fiddle forest fountain garden garnet ginger glacier granite hammer harbour harvest hazel helmet
hollow indigo island ivory jasmine journey juniper kettle ladder lantern laurel lemon linen locket magnet maple marble
meadow mirror morning mountain needle nutmeg oaken ocean olive orchard paper parcel pebble pepper pilgrim planet pocket
quarry quiet raven ribbon river rocket saddle saffron sailor scarlet shadow silver slate sparrow spindle spring stable
stone summer table tailor thicket thistle timber tunnel valley velvet village violet walnut water willow winter yellow`
    .split(/\s+/)
    .filter(Boolean)

/** Some words in lower case, with spaces between them. */
export function words(count: number, random: () => number): string {
  return Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ')
}

/** Words as a title: `Quiet Harbour`. */
export function titleWords(count: number, random: () => number): string {
  return words(count, random).replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
}

/** ASCII markup of exactly so many bytes: paragraphs of running text, cut where the room ends. */
export function paragraphs(bytes: number, random: () => number): string {
  const text = runningText()
  let markup = ''
  while (markup.length < bytes) {
    const room = Math.min(bytes - markup.length, PARAGRAPH_BYTES) - '<p></p>\n'.length
    const start = Math.floor(random() * (text.length - PARAGRAPH_BYTES))
    markup += room > 0 ? `<p>${text.slice(start, start + room)}</p>\n` : '\n'
  }
  return markup
}

const PARAGRAPH_BYTES = 480

let text: string | undefined

/** 64 KB of sentences, made once: slicing them is much cheaper than making sentences for every page. */
function runningText(): string {
  text ??= sentences(64 * 1024, randomStream(0))
  return text
}

function sentences(bytes: number, random: () => number): string {
  const parts: string[] = []
  for (let size = 0; size < bytes; size += parts.at(-1)!.length) {
    const sentence = words(6 + Math.floor(random() * 10), random)
    parts.push(`${sentence[0]!.toUpperCase()}${sentence.slice(1)}. `)
  }
  return parts.join('')
}
