/**
 * What is wrong with the text of a file, told once and with the way out.
 *
 * Node strips types and compiles what is left. TypeScript that is more than types (an enum is an object at run time)
 * it refuses, in words that suit a compiler's user; here it is said what to write instead.
 */

import { UsageError } from '@webloom/core'
import { lineOf, type SourcePlace, shownPlace, sourceExcerpt } from './source-place.ts'

/** A file whose text is wrong. */
export class SyntaxProblem extends UsageError {
  constructor(message: string, cause: unknown) {
    super('WL_SPIDER_LOAD', message, { cause })
  }
}

interface Unstrippable {
  /** Matches the message of Node's error. */
  readonly says: RegExp
  readonly is: string
  readonly instead: string
}

const UNSTRIPPABLE: readonly Unstrippable[] = [
  {
    says: /\benum\b/,
    is: 'an enum',
    instead: "const Kind = { Book: 'book', Film: 'film' } as const",
  },
  {
    says: /parameter property/,
    is: 'a parameter property (a constructor parameter with public, private, protected or readonly)',
    instead: 'a field, and in the constructor  this.name = name',
  },
  {
    says: /namespace|`module` keyword/,
    is: 'a namespace with values in it',
    instead: 'a file of its own that exports them',
  },
  {
    says: /import equals/,
    is: 'import x = …',
    instead: "import x from 'x'   or   import { y } from 'x'",
  },
  { says: /export assignment/, is: 'export = …', instead: 'export default …' },
  { says: /angle-bracket/, is: 'a type assertion in angle brackets', instead: 'value as Type' },
]

const DECORATOR: Unstrippable = {
  says: /^Invalid or unexpected token$/,
  is: 'a decorator',
  instead: 'the call itself, for instance  export default traced(class extends Spider { … })',
}

/** Returns what to say of a file whose types Node could not strip. */
export function stripProblem(path: string, source: string, error: Error): SyntaxProblem {
  const place = { path, ...stripPlace(error.stack ?? '', source) }
  const isUnsupported = (error as NodeJS.ErrnoException).code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
  if (!isUnsupported) return plainProblem(error.message, place, source, error)
  const known = UNSTRIPPABLE.find(({ says }) => says.test(error.message))
  return unstrippableProblem(known ?? unknownSyntax(error), place, source, error)
}

/** Returns what to say of a file that V8 could not compile. */
export function v8Problem(
  message: string,
  place: SourcePlace,
  source: string,
  cause: unknown,
): SyntaxProblem {
  const isDecorator = DECORATOR.says.test(message) && lineOf(source, place)[(place.column ?? 1) - 1] === '@'
  if (isDecorator) return unstrippableProblem(DECORATOR, place, source, cause)
  return plainProblem(message, place, source, cause)
}

function unknownSyntax({ message }: Error): Unstrippable {
  const is = `syntax that is more than types (${message})`
  return { says: /^/, is, instead: 'the same in plain JavaScript' }
}

/** Node's strip errors begin with `:<line>`, some lines of source, and, for a place within one line, carets below it. */
function stripPlace(stack: string, source: string): { line: number; column?: number } {
  const line = Number(/^:(\d+)$/m.exec(stack)?.[1] ?? 1)
  const carets = stack.split('\n').find((text) => /^\s*\^+\s*$/.test(text))
  if (carets === undefined) return { line }
  return { line, column: columnAt(carets.indexOf('^'), lineOf(source, { line })) }
}

// The lines there are shown with tabs as four spaces.
const TAB_WIDTH = 4

function columnAt(shownBefore: number, text: string): number {
  let column = 1
  for (let shown = 0; shown < shownBefore; column++) shown += text[column - 1] === '\t' ? TAB_WIDTH : 1
  return column
}

function unstrippableProblem(
  { is, instead }: Unstrippable,
  place: SourcePlace,
  source: string,
  cause: unknown,
): SyntaxProblem {
  const what = `${shownPlace(place)}: ${is} cannot be run without a build, because it is more than a type.`
  return new SyntaxProblem(`${what}\n\n${sourceExcerpt(source, place)}\n\nWrite instead:  ${instead}`, cause)
}

function plainProblem(message: string, place: SourcePlace, source: string, cause: unknown): SyntaxProblem {
  return new SyntaxProblem(
    `${shownPlace(place)}: syntax error: ${message}\n\n${sourceExcerpt(source, place)}${generatorHint(source, place)}`,
    cause,
  )
}

/**
 * `name = 'x'` and, on the next line, `*parse(…)`: without a semicolon between them JavaScript reads a multiplication.
 * It is the one trap of writing classes without semicolons, and the parser's message does not point at it.
 */
function generatorHint(source: string, place: SourcePlace): string {
  if (!/^\s*\*\s*[\w$#[]/.test(lineOf(source, place))) return ''
  const before = source.split('\n').slice(0, place.line - 1)
  const previous = before.findLast((line) => line.trim() !== '' && !/^\s*(?:\/\/|\/?\*)/.test(line)) ?? ''
  if (/[;{]\s*$/.test(previous)) return ''
  return '\n\nThe field above ends without a semicolon, so the * is read as a multiplication. Put ; after that field, or write  async *'
}
