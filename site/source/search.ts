/**
 * How the site is searched: by whole names first.
 *
 * The site carries these functions as text into the browser: they may use nothing of this module.
 */

/**
 * The words of a text, and of a query: `DOWNLOAD_DELAY` and `followAll` are words as they stand, besides their parts, so
 * that a name is found before what only speaks of its parts.
 */
function searchWords(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_$]+/u).flatMap((word) => {
    const parts = word.split(/_+|(?<=[a-z0-9])(?=[A-Z])/).filter((part) => part !== '')
    if (word === '') return []
    return parts.length > 1 ? [word, ...parts] : [word]
  })
}

/** A word is found in any case; in a title as it is written, too, as `Signals` and `signals` may be two things. */
function wordForms(word: string, field?: string): string[] {
  const lower = word.toLowerCase()
  const isTitleOrQuery = field === undefined || field === 'title'
  return isTitleOrQuery && lower !== word ? [word, lower] : [lower]
}

/** What is called by the word is found before what speaks of it, and its own page before others that list it. */
function rankOf(id: string, word: string, { title }: Record<string, unknown> = {}): number {
  const names = String(title).split(' ')
  const isOwnPage =
    /^\/(?:[\w-]+\/)*(?:settings|errors|meta|stats|redis-keys)\.html#|^\/api\/[\w-]+\/(\w+)(?:-[a-z]+)?\.html#(?=\1$)/i.test(
      id,
    )
  const isName = names.includes(word) || names.some((name) => name.toLowerCase() === word)
  if (!isName) return 1
  return (names.length === 1 ? 10 : 3) * (names.includes(word) ? 2 : 1) * (isOwnPage ? 4 : 1)
}

/** The options of MiniSearch, for the index and for queries. */
export const SEARCH = {
  options: { tokenize: searchWords, processTerm: wordForms },
  searchOptions: {
    fuzzy: 0.2,
    prefix: true,
    boost: { title: 6, text: 1, titles: 1 },
    boostDocument: rankOf,
  },
}
