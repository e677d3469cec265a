/** Finds the settings that a user may have meant by an unknown name. */

import { editDistance } from '@webloom/url'
import { SETTINGS_TABLE } from './settings-table.ts'

const SUGGESTIONS_MAX = 3

interface Candidate {
  readonly name: string
  readonly distance: number
}

/** Returns the nearest names, best first; empty when none is near. */
export function suggestedNames(written: string): string[] {
  const wanted = asSettingName(written)
  // Three letters in ten may be wrong; in short names two, so that LOGLEVL finds LOG_LEVEL.
  const distanceMax = Math.max(2, wanted.length * 0.3)
  const near = SETTINGS_TABLE.map(({ name, use }) => ({ name, use, distance: nameDistance(wanted, name) }))
    .filter(({ distance }) => distance <= distanceMax)
    .sort((a, b) => a.distance - b.distance || Number(a.use === 'unused') - Number(b.use === 'unused'))
  return withoutFarOnes(near).map(({ name }) => name)
}

/** Turns `downloadDelay`, `download-delay` and `WEBLOOM_DOWNLOAD_DELAY` into `DOWNLOAD_DELAY`. */
function asSettingName(written: string): string {
  const separated = written.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll(/[^A-Za-z0-9]+/g, '_')
  return separated.toUpperCase().replace(/^WEBLOOM_/, '')
}

function withoutFarOnes(sorted: readonly Candidate[]): Candidate[] {
  const best = sorted[0]?.distance ?? 0
  return sorted.filter(({ distance }) => distance <= best * 1.5).slice(0, SUGGESTIONS_MAX)
}

function nameDistance(wanted: string, name: string): number {
  const words = wanted.split('_').filter((word) => word !== '')
  const nameWords = name.split('_')
  const reordered = editDistance(words.toSorted().join('_'), nameWords.toSorted().join('_')) + 0.5
  return Math.min(
    editDistance(wanted, name),
    reordered,
    wordDistance(words, nameWords),
    prefixDistance(wanted, name),
  )
}

/** Returns the distance in whole words: one missing, added or exchanged word counts more than a typing error. */
function wordDistance(words: readonly string[], nameWords: readonly string[]): number {
  const common = nameWords.filter((word) => words.some((other) => isSameWord(word, other))).length
  const isPart = common > 0 && common === Math.min(words.length, nameWords.length)
  // Two names that share one word of several are not similar.
  return isPart || common > 1 ? 1 + Math.max(words.length, nameWords.length) - common : Infinity
}

// BLOOM_BIT and MEDIA_REDIRECT: a word may be shortened, but not below three letters.
function isSameWord(word: string, other: string): boolean {
  const [short, long] = word.length < other.length ? [word, other] : [other, word]
  return short === long || (short.length > 2 && long.startsWith(short))
}

/** AUTO_THROTTLE and AUTOTHROTTLE_ENABLED: one name begins with the other, wherever the words end. */
function prefixDistance(wanted: string, name: string): number {
  const [letters, nameLetters] = [wanted.replaceAll('_', ''), name.replaceAll('_', '')]
  if (Math.min(letters.length, nameLetters.length) < 3) return Infinity
  if (nameLetters.startsWith(letters)) return 2
  // The user has added something to a name. A name that also has that addition is nearer.
  return letters.startsWith(nameLetters) ? 3 : Infinity
}
