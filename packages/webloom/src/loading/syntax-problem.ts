/**
 * What is wrong with the text of a file, told once and with the way out.
 *
 * Node strips types and compiles what is left. TypeScript that is more than types (an enum is an object at run time)
 * it refuses, in words that suit a compiler's user; here it is said what to write instead.
 */

import { spawnSync } from 'node:child_process'
import { UsageError } from '@webloom/core'
import { type SourcePlace, shownPlace, sourceExcerpt } from './source-place.ts'

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

/** The error for a file whose types Node could not strip. */
export function stripProblem(path: string, source: string, error: Error): UsageError {
  const place = { path, ...placeIn(error.stack ?? '') }
  const known = UNSTRIPPABLE.find(({ says }) => says.test(error.message))
  const isUnsupported = (error as NodeJS.ErrnoException).code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
  if (isUnsupported) return unstrippableError(known ?? unknownUnstrippable(error), place, source, error)
  return syntaxError(error.message, place, source, error)
}

function unknownUnstrippable({ message }: Error): Unstrippable {
  return {
    says: /^/,
    is: `syntax that is more than types (${message})`,
    instead: 'the same in plain JavaScript',
  }
}

/**
 * The error for a file that does not compile, or undefined when it does. V8 tells only a process that ends of it where
 * the mistake is, so one is started: this costs a moment, once, in a run that has failed anyway.
 */
export function compileProblem(path: string, source: string, cause: unknown): UsageError | undefined {
  const check = spawnSync(process.execPath, ['--input-type=module', '--check', '-'], {
    input: source,
    encoding: 'utf8',
    timeout: CHECK_TIMEOUT_MS,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  const message = /^SyntaxError: (.*)$/m.exec(check.stderr)?.[1]
  if (check.status === 0 || message === undefined) return undefined
  const place = { path, ...placeIn(check.stderr) }
  const isDecorator = DECORATOR.says.test(message) && characterAt(source, place) === '@'
  if (isDecorator) return unstrippableError(DECORATOR, place, source, cause)
  return syntaxError(message, place, source, cause)
}

const CHECK_TIMEOUT_MS = 10_000

/** Reads `…:<line>`, the lines around it and the carets below, as Node writes them before the error itself. */
function placeIn(stack: string): { line: number; column?: number } {
  const line = Number(/^.*?:(\d+)$/m.exec(stack)?.[1] ?? 1)
  const carets = stack.split('\n').find((text) => /^\s*\^+\s*$/.test(text))
  return carets === undefined ? { line } : { line, column: carets.indexOf('^') + 1 }
}

function characterAt(source: string, { line, column = 1 }: SourcePlace): string | undefined {
  return source.split('\n')[line - 1]?.[column - 1]
}

function unstrippableError(
  { is, instead }: Unstrippable,
  place: SourcePlace,
  source: string,
  cause: unknown,
): UsageError {
  const message = `${shownPlace(place)}: ${is} cannot be run without a build, because it is more than a type.\n\n${sourceExcerpt(source, place)}\n\nWrite instead:  ${instead}`
  return new UsageError('WL_SPIDER_LOAD', message, { cause })
}

function syntaxError(message: string, place: SourcePlace, source: string, cause: unknown): UsageError {
  const text = `${shownPlace(place)}: syntax error: ${message}\n\n${sourceExcerpt(source, place)}`
  return new UsageError('WL_SPIDER_LOAD', text, { cause })
}
