import { valueShown, WebloomError } from '@webloom/url'
import { decodeHTML } from 'entities'

/**
 * Returns what `pattern` finds in `text`, by parsel's rules: the group named `extract` of the first match, else all
 * groups of every match (an absent one is ''), else every whole match.
 */
export function extractRegex(pattern: string | RegExp, text: string, replaceEntities: boolean): string[] {
  const found = matchesOf(globalRegex(pattern), text)
  return replaceEntities ? found.map(decodeEntities) : found
}

function matchesOf(regex: RegExp, text: string): string[] {
  const found: string[] = []
  for (const match of text.matchAll(regex)) {
    if (match.groups && 'extract' in match.groups) return match.groups.extract ? [match.groups.extract] : []
    if (match.length === 1) found.push(match[0])
    else for (let group = 1; group < match.length; group++) found.push(match[group] ?? '')
  }
  return found
}

function globalRegex(pattern: string | RegExp): RegExp {
  if (pattern instanceof RegExp) {
    // A copy: the caller's may be global with a lastIndex of its own.
    return new RegExp(pattern.source, pattern.global ? pattern.flags : `${pattern.flags}g`)
  }
  if (typeof pattern === 'string') return regexOf(pattern, 'g')
  throw new WebloomError('WL_USAGE', `re() takes a text or a RegExp, and got ${valueShown(pattern)}.`)
}

/** Throws WL_SELECTOR_INVALID. */
export function regexOf(pattern: string, flags: string): RegExp {
  try {
    // Python writes a named group (?P<name>…), JavaScript (?<name>…).
    return new RegExp(pattern.replaceAll('(?P<', '(?<'), flags)
  } catch (cause) {
    const { message } = cause as Error
    throw new WebloomError('WL_SELECTOR_INVALID', `re(${JSON.stringify(pattern)}): ${message}`, { cause })
  }
}

const ENTITY = /&(?:(#\d+|#x[\da-f]+)|([a-z\d]+))(;?)/gi

// w3lib's replace_entities, as parsel calls it: &lt; and &amp; stay, so that markup in the result can be told from
// text; an unknown name that ends in a semicolon is removed.
function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    ENTITY,
    (entity, number: string | undefined, name: string | undefined, semicolon: string) => {
      if (number) return decodeHTML(`&${number};`)
      if (/^(?:lt|amp)$/i.test(name!)) return entity
      for (const spelling of [`&${name};`, `&${name!.toLowerCase()};`]) {
        const decoded = decodeHTML(spelling)
        if (decoded !== spelling) return decoded
      }
      return semicolon ? '' : entity
    },
  )
}
