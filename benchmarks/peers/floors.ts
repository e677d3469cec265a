/** What any crawler in Node must do at the least, without politeness, retries, settings or items: four floors. */

import { load } from 'cheerio'
import { load as loadHtmlparser2 } from 'cheerio/slim'
import { Parser } from 'htmlparser2'
import { Agent, request } from 'undici'
import { type PeerTask, reportUse } from './peer-task.ts'

/** The links of a page; empty for the floor that knows all URLs from the start. */
type LinksOf = (html: string, select: boolean) => readonly string[]

const FLOORS: Readonly<Record<string, LinksOf>> = {
  fetch: () => [],
  stream: streamedLinks,
  htmlparser2: (html, select) => treeLinks(loadHtmlparser2(html), select),
  parse5: (html, select) => treeLinks(load(html), select),
}

export async function crawlFloor({ seeds, concurrency, select, flavour }: PeerTask): Promise<void> {
  const linksOf = FLOORS[flavour]
  if (!linksOf) throw new Error(`no floor ${flavour}; there are ${Object.keys(FLOORS).join(', ')}`)
  const seen = new Set<string>(seeds)
  const queue = [...seeds]
  const dispatcher = new Agent({ keepAliveTimeout: 4000 })
  const work = async () => {
    for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
      const { statusCode, body } = await request(url, { dispatcher })
      const html = await body.text()
      if (statusCode !== 200) continue
      for (const href of linksOf(html, select)) {
        const link = URL.parse(href, url)?.href
        if (link === undefined || seen.has(link)) continue
        seen.add(link)
        queue.push(link)
      }
    }
  }
  // Workers end when the queue is empty for a moment; while any page is out, more may come.
  while (queue.length > 0) await Promise.all(Array.from({ length: concurrency }, work))
  await dispatcher.close()
}

function streamedLinks(html: string): string[] {
  const links: string[] = []
  const parser = new Parser({
    onopentag(name, { href }) {
      if (name === 'a' && href !== undefined) links.push(href)
    },
  })
  parser.end(html)
  return links
}

const titles: string[] = []

function treeLinks($: ReturnType<typeof load>, select: boolean): string[] {
  if (select) titles.push($('title').text())
  return $('a')
    .map((_, { attribs }) => attribs.href)
    .get()
}

await reportUse(crawlFloor)
