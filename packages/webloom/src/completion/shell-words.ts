/**
 * Returns the words of a command line up to the cursor, as a POSIX shell has them; the last one is what is being typed, and
 * empty behind a blank. A quotation that has not ended yet is a part of it.
 */
export function shellWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (const [token] of line.matchAll(TOKEN)) {
    if (/^\s/.test(token)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + plain(token)
  }
  return [...words, word ?? '']
}

const TOKEN = /\s+|'[^']*'?|"(?:[^"\\]|\\.)*"?|\\.?|[^\s'"\\]+/gs

function plain(token: string): string {
  if (token.startsWith("'")) return token.slice(1).replace(/'$/, '')
  if (token.startsWith('"'))
    return token
      .slice(1)
      .replace(/(?<!\\)"$/, '')
      .replaceAll(/\\(["\\$`])/g, '$1')
  return token.replace(/^\\/s, '')
}
