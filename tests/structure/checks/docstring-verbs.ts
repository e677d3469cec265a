import { packageSources } from '../files/source-files.ts'

const FUNCTION = /^(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n(?:\/\/ .*\n)*export (?:async )?function\*? ?(\w+)/gm
/** An exported class, up to the next one of the file. */
const CLASS = /^(?=(?:export )?(?:abstract )?class )/m
const EXPORTED = /^export (?:abstract )?class (\w+)/
const METHOD =
  /^ {2}(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n(?: {2}\/\/ .*\n)* {2}(?:(?:static|override|protected|async) )*\*?(\w+)(?:<[^(]*>)?\((?!\))/gm
const BEGINNING = /^\/\*\*\s*(?:\*\s)?\s*(\w+)/
/** With these a docstring begins that says what comes out, and not that it does. */
const NO_VERBS =
  /^(?:What|Whether|Those|Where|As|In|When|How|Which|Who|Why|By|Of|From|To|For|On|At|With|That)$/

/**
 * Exported functions, and methods with parameters of exported classes, whose docstring does not begin with a verb.
 *
 * @param known of whom this was so when it was first looked at. One whose docstring has a verb is no longer to be named
 */
export function docstringVerbProblems(root: string, known: readonly string[] = []): string[] {
  const found = packageSources(root)
    .filter(({ path }) => !path.includes('/contract/'))
    .flatMap(({ path, text }) =>
      [
        ...[...text.matchAll(FUNCTION)].map(([, comment, name]) => [comment!, name!] as const),
        ...methods(text),
      ].map(([comment, name]) => ({ path, name, word: BEGINNING.exec(comment)?.[1] ?? '' })),
    )
    .filter(({ word }) => NO_VERBS.test(word))
  return [
    ...found
      .filter(({ name }) => !known.includes(name))
      .map(({ path, name, word }) => `the docstring of ${name} (${path}) begins with “${word}”, not a verb`),
    ...known
      .filter((name) => !found.some((one) => one.name === name))
      .map((name) => `the docstring of ${name} begins with a verb: it need not be named in the test`),
  ]
}

/** Methods by their classes' names, each with its docstring. */
function methods(text: string): (readonly [comment: string, name: string])[] {
  return text.split(CLASS).flatMap((part) => {
    const owner = EXPORTED.exec(part)?.[1]
    return owner === undefined
      ? []
      : [...part.matchAll(METHOD)].map(([, comment, name]) => [comment!, `${owner}.${name}`] as const)
  })
}
