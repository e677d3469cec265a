/**
 * The floor: what any crawler in Node must do at the least. undici's `request`, htmlparser2's streaming parser for
 * links, `URL` to resolve them, a Set to know them again. No politeness, no retries, no settings, no items.
 */

import { Parser } from 'htmlparser2'
import { Agent, request } from 'undici'
import { type Measured, report, type Task } from '../measured.ts'

export async function crawlFloor({ seeds, concurrency }: Task): Promise<Measured> {
  const seen = new Set<string>(seeds)
  const queue = [...seeds]
  const dispatcher = new Agent({ keepAliveTimeout: 4000 })
  let pages = 0

  async function worker(): Promise<void> {
    for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
      const { statusCode, body } = await request(url, { dispatcher })
      const html = await body.text()
      if (statusCode !== 200) continue
      pages++
      for (const link of linksOf(html, url)) {
        if (seen.has(link)) continue
        seen.add(link)
        queue.push(link)
      }
    }
  }

  // Workers end when the queue is empty for a moment; while any page is out, more may come.
  const begun = performance.now()
  while (queue.length > 0) await Promise.all(Array.from({ length: concurrency }, worker))
  const seconds = (performance.now() - begun) / 1000
  await dispatcher.close()
  return { pages, seconds }
}

function linksOf(html: string, base: string): string[] {
  const links: string[] = []
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name !== 'a' || attributes.href === undefined) return
      const url = URL.parse(attributes.href, base)
      if (!url) return
      url.hash = ''
      links.push(url.href)
    },
  })
  parser.end(html)
  return links
}

await report(crawlFloor)
