import { WebloomError } from '@webloom/url'

/** A regular expression that is sought anywhere in a URL or text. A string may be in Python's syntax. */
export type UrlPattern = string | RegExp

/** Whether any of the patterns is found in the text. */
export type PatternTest = (text: string) => boolean

/** Returns one test that holds when any pattern does. Throws WL_SELECTOR_INVALID for a string that is not a regular expression. */
export function anyOf(patterns: readonly UrlPattern[]): PatternTest {
  const regexes = patterns.map(regexOf)
  return (text) => regexes.some((regex) => regex.test(text))
}

function regexOf(pattern: UrlPattern): RegExp {
  // A copy without g and y: with them a regular expression remembers where it was.
  if (pattern instanceof RegExp) return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
  const [, flags = '', source = pattern] = /^\(\?([aimsu]+)\)(.*)$/s.exec(pattern) ?? []
  try {
    return new RegExp(withoutPythonisms(source), flags.replace(/[au]/g, ''))
  } catch (cause) {
    throw new WebloomError(
      'WL_SELECTOR_INVALID',
      `${JSON.stringify(pattern)} is not a regular expression: ${(cause as Error).message}`,
      { cause },
    )
  }
}

/** What Python writes otherwise: `(?P<name>…)`, `(?P=name)`, `\A` and `\Z`. */
function withoutPythonisms(source: string): string {
  return source.replace(/\\([\s\S])|\(\?P(?:<|=(\w+)\))/g, (written, escaped?: string, name?: string) => {
    if (escaped !== undefined) return escaped === 'A' ? '^' : escaped === 'Z' ? '$' : written
    return name === undefined ? '(?<' : `\\k<${name}>`
  })
}
