/** Returns the text with A to Z in lower case, and nothing else changed: `toLowerCase` would make two characters of İ. */
export function asciiLowerCase(text: string): string {
  return /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text
}
