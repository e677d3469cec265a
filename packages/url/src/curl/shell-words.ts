import { WebloomError } from '../errors.ts'

/**
 * Returns the words of a command as a POSIX shell would pass them: quotes of both kinds, backslashes, lines continued
 * with one, and bash's `$'…'` with its escapes, which browsers write into "Copy as cURL". Nothing is expanded.
 *
 * Throws WL_REQUEST_INVALID for a quote that is not closed.
 */
export function shellWords(command: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (const [piece] of command.matchAll(PIECE)) {
    if (/^[ \t\r\n]/.test(piece)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (piece !== '\\\n' && piece !== '\\\r\n') {
      word = (word ?? '') + textOf(piece)
    }
  }
  if (word !== undefined) words.push(word)
  return words
}

// White space, a quoted part of either kind, an escaped character, or a run of plain ones. A lone quote comes last.
const PIECE =
  /[ \t\r\n]+|\$?'(?<=\$')(?:[^'\\]|\\.)*'|'[^']*'|\$?"(?:[^"\\]|\\.)*"|\\(?:\r\n|.)|[^ \t\r\n'"\\$]+|\$|['"\\]/gs

function textOf(piece: string): string {
  if (piece.startsWith("$'")) return ansiC(piece.slice(2, -1))
  if (piece.startsWith('$"')) return doubleQuoted(piece.slice(2, -1))
  if (/^['"\\]$/.test(piece)) {
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      `the command ends within ${piece === '\\' ? 'an escape' : `a quote that begins with ${piece}`}; was all of it copied?`,
    )
  }
  if (piece.startsWith("'")) return piece.slice(1, -1)
  if (piece.startsWith('"')) return doubleQuoted(piece.slice(1, -1))
  return piece.startsWith('\\') ? piece.slice(1) : piece
}

/** Between double quotes a backslash escapes these and nothing else. */
function doubleQuoted(text: string): string {
  return text.replace(/\\(\r?\n|[$`"\\])/g, (_, escaped: string) => (/\n/.test(escaped) ? '' : escaped))
}

const ANSI_C: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** The escapes of `$'…'`. Bytes written in octal or hex are read as UTF-8, as a terminal would. */
function ansiC(text: string): string {
  const escapes =
    /((?:\\(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2}))+)|\\u([0-9a-fA-F]{1,4})|\\U([0-9a-fA-F]{1,8})|\\c(.)|\\(.)/gs
  return text.replace(
    escapes,
    (_, bytes?: string, u?: string, long?: string, control?: string, c?: string) => {
      if (bytes !== undefined) return Buffer.from(bytesOf(bytes)).toString('utf8')
      const hex = u ?? long
      if (hex !== undefined) return codePoint(Number.parseInt(hex, 16))
      if (control !== undefined) return String.fromCharCode(control.toUpperCase().charCodeAt(0) & 0x1f)
      return ANSI_C[c!] ?? (/['"\\?]/.test(c!) ? c! : `\\${c!}`)
    },
  )
}

function bytesOf(written: string): number[] {
  return [...written.matchAll(/\\(?:x([0-9a-fA-F]+)|([0-7]+))/g)].map(([, hex, octal]) =>
    hex === undefined ? Number.parseInt(octal!, 8) & 0xff : Number.parseInt(hex, 16),
  )
}

function codePoint(value: number): string {
  return value <= 0x10_ffff ? String.fromCodePoint(value) : '\ufffd'
}
