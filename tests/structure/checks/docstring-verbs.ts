import { packageSources } from '../files/source-files.ts'

const FUNCTION = /^(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n(?:\/\/ .*\n)*export (?:async )?function\*? ?(\w+)/gm
const BEGINNING = /^\/\*\*\s*(?:\*\s)?\s*(\w+)/
/** With these a docstring begins that says what comes out, and not that it does. */
const NO_VERBS =
  /^(?:What|Whether|Those|Where|As|In|When|How|Which|Who|Why|By|Of|From|To|For|On|At|With|That)$/

/**
 * Exported functions whose docstring does not begin with a verb.
 *
 * @param known of whom this was so when it was first looked at. One whose docstring has a verb is no longer to be named
 */
export function docstringVerbProblems(root: string, known: readonly string[] = []): string[] {
  const found = packageSources(root)
    .filter(({ path }) => !path.includes('/contract/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(FUNCTION)].map(([, comment, name]) => ({
        path,
        name: name!,
        word: BEGINNING.exec(comment!)?.[1] ?? '',
      })),
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
