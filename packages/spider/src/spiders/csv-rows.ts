/** The form of a CSV text. */
export interface CsvForm {
  /** One character. */
  readonly delimiter: string
  /** One character. */
  readonly quotechar: string
  /** The names of the columns. Undefined: the first row has them. */
  readonly headers: readonly string[] | undefined
  /** Called for each row that has more or fewer fields than there are names. */
  readonly onMisfit: (fields: readonly string[], expected: number) => void
}

/** Yields the rows of a CSV text by the names of their columns. Empty lines are skipped. */
export function* csvRows(
  text: string,
  { delimiter, quotechar, headers, onMisfit }: CsvForm,
): Generator<Record<string, string>> {
  let names = headers
  for (const fields of csvFields(text, delimiter, quotechar)) {
    if (!names) names = fields
    else if (fields.length !== names.length) onMisfit(fields, names.length)
    else yield Object.fromEntries(names.map((name, column) => [name, fields[column]!]))
  }
}

/**
 * Yields the fields of each row by the rules of Python's `csv`, which accepts everything: a quote has a meaning only at the
 * beginning of a field, what follows the closing quote belongs to the field, and a field that is never closed ends with the
 * text. csv-parse, which reads our own files, refuses such a feed as a whole (`docs/decisions/by-hand-or-by-a-library.md`).
 */
function* csvFields(text: string, delimiter: string, quotechar: string): Generator<string[]> {
  const mark = new RegExp(`[${escaped(delimiter)}\\r\\n]`, 'g')
  let fields: string[] = []
  for (let at = 0; at < text.length; ) {
    let field = ''
    if (text[at] === quotechar) [field, at] = quotedField(text, at + 1, quotechar)
    mark.lastIndex = at
    const end = mark.exec(text)?.index ?? text.length
    fields.push(field + text.slice(at, end))
    at = end + (text.startsWith('\r\n', end) ? 2 : 1)
    if (text[end] === delimiter && at < text.length) continue
    if (text[end] === delimiter) fields.push('')
    if (fields.length > 1 || fields[0] !== '') yield fields
    fields = []
  }
}

/** Returns the text up to the closing quote, and where reading goes on. A doubled quote stands for one. */
function quotedField(text: string, start: number, quotechar: string): [field: string, end: number] {
  let field = ''
  for (let at = start; ; ) {
    const end = text.indexOf(quotechar, at)
    if (end < 0) return [field + text.slice(at), text.length]
    field += text.slice(at, end)
    if (text[end + 1] !== quotechar) return [field, end + 1]
    field += quotechar
    at = end + 2
  }
}

function escaped(character: string): string {
  return character.replace(/[\\\]^-]/g, '\\$&')
}
