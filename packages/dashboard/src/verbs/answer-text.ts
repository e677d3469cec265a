/** Control bytes, marks that turn or hide what follows, and characters that no font has. */
const UNSEEN = /[\u007f-\u009f\u2028\u2029]|\p{Cf}|\p{Co}|\p{Surrogate}/gu

/**
 * Returns an answer as JSON. Text of the web may have anything in it: what cannot be seen is written as `\uXXXX`, which is the same
 * JSON, so that it does nothing in a terminal and hides nothing from whoever reads it.
 */
export function answerText(answer: unknown): string {
  return JSON.stringify(answer).replace(UNSEEN, escaped)
}

function escaped(unseen: string): string {
  const units = Array.from({ length: unseen.length }, (_, n) => unseen.charCodeAt(n))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
