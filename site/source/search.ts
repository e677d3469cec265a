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
  // A word of everyday language, `resume`, is some name in the API, too; `followAll` is only a name.
  const isCode = isName && /[^a-z]/.test(word)
  const place = /^\/(?:tutorial|guides)\//.test(id) ? 4 : /^\/api\//.test(id) && !isCode ? 0.05 : 1
  if (!isName) return place
  const isWritten = names.includes(word) ? 2 : 1
  // `ComposeOptions` is asked for by its parts, too, and `Compose` is the whole name of another.
  const isOfParts = /[a-z0-9][A-Z]|_/.test(word) ? 3 : 1
  return isOwnPage ? 40 * isWritten * isOfParts : (names.length === 1 ? 10 : 3) * isWritten * place
}

/** The options of MiniSearch, for the index and for queries. */
export const SEARCH = {
  options: { tokenize: searchWords, processTerm: wordForms },
  searchOptions: {
    // Short words are too near to others: test and text.
    fuzzy: (word: string) => (word.length > 5 ? 0.2 : false),
    prefix: true,
    // Else `redis` finds each name that begins so before what is about it.
    weights: { prefix: 0.005, fuzzy: 0.005 },
    boost: { title: 6, text: 1, titles: 1 },
    boostDocument: rankOf,
  },
}
