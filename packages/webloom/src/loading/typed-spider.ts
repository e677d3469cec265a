/** How a spider is called on a command line, so that the lines in messages can be typed as they stand. */

import type { CrawlName, SpiderLike } from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'
import { shownPair } from '../terminal/shown-pair.ts'

/** The files that spiders were named by. */
const files = new WeakMap<object, string>()

/** The user has named the spider by this file. */
export function noteTyped(Class: SpiderClass, file: string): void {
  files.set(Class, file)
}

/** The arguments that spiders were made with. */
const spiderArguments = new WeakMap<object, Readonly<Record<string, string>>>()

/** The spider was made with these. */
export function noteArguments(spider: object, args: Readonly<Record<string, string>>): void {
  spiderArguments.set(spider, args)
}

/** Returns `-a name=value` for each of them; secrets are hidden. */
export function typedArguments(spider: object): string[] {
  const pairs = Object.entries(spiderArguments.get(spider) ?? {}).map((pair) => shownPair(pair.join('=')))
  return pairs.flatMap((pair) => ['-a', shellQuoted(pair)])
}

/** Its file where it was named by that, else its name. */
export function typedSpider(spider: Pick<SpiderLike, 'name'>): string {
  return shellQuoted(files.get(spider.constructor) ?? spider.name)
}

/** The same with the CRAWL_ID, without which the line would be about another crawl. Where the crawl's settings are at hand, see redis/typed-crawl.ts. */
export function typedByName(spider: Pick<SpiderLike, 'name'>, crawlId: CrawlName['crawlId']): string {
  const typed = typedSpider(spider)
  return crawlId === null || crawlId === undefined ? typed : `${typed} -s CRAWL_ID=${shellQuoted(crawlId)}`
}

/** A setting as it stands behind such a command. */
export function typedSetting(name: string, value: unknown): string {
  return `-s ${shellQuoted(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)}`
}

/** The line that shows a page as the spider gets it. */
export function typedShell(spider: Pick<SpiderLike, 'name'>, url: string): string {
  // A project's shell chooses the spider by the page's host itself.
  const file = files.get(spider.constructor)
  const as = file === undefined ? '' : ` --spider ${shellQuoted(file)}`
  return `${commandName()} shell${as} ${shellQuoted(url)}`
}
