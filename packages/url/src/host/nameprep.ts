import { LEFT_TO_RIGHT, NORMALISED_LATER, PROHIBITED, RIGHT_TO_LEFT } from './nameprep-tables.ts'

// RFC 3454 table B.1: soft hyphens, joiners, variation selectors and the like vanish.
// biome-ignore lint/suspicious/noMisleadingCharacterClass: these are ranges of single characters.
const MAPPED_TO_NOTHING = /[\u00ad\u034f\u1806\u180b-\u180d\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]/g

/**
 * Returns one host label by RFC 3491 (case folded, NFKC of Unicode 3.2), or undefined when it holds what is not
 * allowed.
 */
export function nameprep(label: string): string | undefined {
  const folded = Array.from(label.replace(MAPPED_TO_NOTHING, ''), foldCase).join('')
  const prepared = nfkc(folded)
  const codePoints = Array.from(prepared, (char) => char.codePointAt(0)!)
  if (codePoints.some((codePoint) => PROHIBITED.has(codePoint))) return undefined
  return obeysBidi(codePoints) ? prepared : undefined
}

/** RFC 3454 table B.2: folded so that NFKC of the result is folded too. */
function foldCase(char: string): string {
  if (NORMALISED_LATER.has(char.codePointAt(0)!)) return char
  const folded = fold(char)
  const normal = folded.normalize('NFKC')
  const again = fold(normal).normalize('NFKC')
  return again === normal ? folded : again
}

/** Full case folding: up and down again also turns ß into ss and ς into σ. The dotless ı alone must stay. */
function fold(text: string): string {
  return text === 'ı' ? text : text.toUpperCase().toLowerCase()
}

function nfkc(text: string): string {
  let normal = ''
  let run = ''
  for (const char of text) {
    if (NORMALISED_LATER.has(char.codePointAt(0)!)) {
      normal += run.normalize('NFKC') + char
      run = ''
    } else {
      run += char
    }
  }
  return normal + run.normalize('NFKC')
}

/** RFC 3454 §6: a label that holds right-to-left letters holds no others, and begins and ends with one. */
function obeysBidi(codePoints: readonly number[]): boolean {
  if (!codePoints.some((codePoint) => RIGHT_TO_LEFT.has(codePoint))) return true
  if (codePoints.some((codePoint) => LEFT_TO_RIGHT.has(codePoint))) return false
  return RIGHT_TO_LEFT.has(codePoints[0]!) && RIGHT_TO_LEFT.has(codePoints.at(-1)!)
}
