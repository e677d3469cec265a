/** Looks at what authors write into `meta.browser`: it is told where the request is yielded, with no browser at hand. */

import { didYouMean, type OptionNames, valueShown } from '@webloom/url'
import type { BrowserOptions } from './browser-options.ts'

interface Kind {
  readonly expected: string
  readonly is: (value: unknown) => boolean
}

const isText = (value: unknown) => typeof value === 'string' && value.trim() !== ''
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1
const isFlag = (value: unknown) => typeof value === 'boolean'
const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
// Others would be asked of a URL from its first character, and none begins so.
const isGlobList = (value: unknown) =>
  isTextList(value) && value.every((glob) => /^(?:\/|\*|https?:)/.test(glob))
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isClick(value: unknown): boolean {
  if (isText(value)) return true
  if (!isObject(value)) return false
  const { selector, times = 1, ...others } = value
  return isText(selector) && isCount(times) && Object.keys(others).length === 0
}

// Chromium draws no more at once, and ends when it is to.
const PIXELS_MAX = 16_384

function isViewport(value: unknown): boolean {
  const isLength = (length: unknown) => isCount(length) && (length as number) <= PIXELS_MAX
  return isObject(value) && isLength(value.width) && isLength(value.height) && Object.keys(value).length === 2
}

const KINDS: Readonly<Record<keyof BrowserOptions, Kind>> = {
  waitFor: {
    expected: 'a CSS selector or a number of milliseconds',
    is: (value) => isText(value) || (typeof value === 'number' && value >= 0),
  },
  scroll: { expected: 'true, or how often', is: (value) => isFlag(value) || isCount(value) },
  click: {
    expected: 'a CSS selector, { selector, times }, or a list of such',
    is: (value) => isClick(value) || (Array.isArray(value) && value.every(isClick)),
  },
  fill: {
    expected: 'texts by CSS selector, such as { "#user": "me" }',
    is: (value) => isObject(value) && Object.values(value).every((text) => typeof text === 'string'),
  },
  block: { expected: 'a list of kinds and hosts, such as ["image", "font", "ads.example"]', is: isTextList },
  viewport: { expected: '{ width, height } in pixels, 16384 at the most', is: isViewport },
  locale: { expected: 'a language, such as "de-DE"', is: isLocale },
  screenshot: { expected: 'true or "full"', is: (value) => isFlag(value) || value === 'full' },
  pdf: { expected: 'true or false', is: isFlag },
  capture: { expected: 'a list of paths or URLs with * and **, such as ["/api/**"]', is: isGlobList },
  script: { expected: 'the name of a method of the spider', is: isText },
}

/** What may not be loaded, by the browser's own words for it. Whatever has a dot in it is a host. */
export const BLOCKED_KINDS: readonly string[] = [
  'image',
  'media',
  'font',
  'stylesheet',
  'script',
  'xhr',
  'fetch',
  'websocket',
  'other',
]

/** What other crawlers have it called. */
const OTHERS_NAMES: Readonly<Record<string, string>> = {
  timeout: ' The time of a page is meta.download_timeout, in seconds',
  proxy: ' The proxy of a request is meta.proxy',
  waitForSelector: ' Write waitFor',
  fullPage: ' Write screenshot: "full"',
  evaluate: ' Write script: "methodName", a method of the spider that gets the page',
}

const NAMES = Object.keys(KINDS) satisfies (keyof OptionNames<BrowserOptions>)[] | string[]

/** Returns what is wrong with a value of `meta.browser`, in words; undefined when nothing is. */
export function browserOptionsProblem(value: unknown): string | undefined {
  if (typeof value === 'boolean' || value === 'auto') return undefined
  if (!isObject(value))
    return `is ${valueShown(value)}; expected true, "auto", or an object with ${NAMES.join(', ')}`
  for (const [name, option] of Object.entries(value)) {
    if (!Object.hasOwn(KINDS, name)) {
      const meant = OTHERS_NAMES[name] ?? (didYouMean(name, NAMES) || ` There are ${NAMES.join(', ')}`)
      return `has no option ${JSON.stringify(name)}.${meant}`
    }
    const kind = KINDS[name as keyof BrowserOptions]
    if (option !== undefined && option !== null && !kind.is(option))
      return `has ${valueShown(option)} for ${name}; expected ${kind.expected}`
  }
  return unknownKindProblem(value.block as readonly string[] | undefined)
}

// Its subdomains are meant, too, whether that is said or not.
const HOST = /^(?:\*?\.)?[^\s/:*]+$/

function unknownKindProblem(block: readonly string[] = []): string | undefined {
  const noHost = block.find((entry) => entry.includes('.') && !HOST.test(entry))
  if (noHost !== undefined)
    return `has ${JSON.stringify(noHost)} in block; expected a kind, or a host alone, such as "ads.example"`
  const unknown = block.find((entry) => !entry.includes('.') && !BLOCKED_KINDS.includes(entry))
  if (unknown === undefined) return undefined
  const meant = didYouMean(unknown, BLOCKED_KINDS) || ` Kinds are ${BLOCKED_KINDS.join(', ')}`
  return `has ${JSON.stringify(unknown)} in block, which is neither a kind nor a host.${meant}`
}

function isLocale(value: unknown): boolean {
  // A word of five letters or more may be a language by the rules; there is none, and Chromium takes none.
  if (!isText(value) || !/^[a-z]{2,3}(?:-|$)/i.test(value as string)) return false
  try {
    return Intl.getCanonicalLocales(value as string).length === 1
  } catch {
    return false
  }
}
