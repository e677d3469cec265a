import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Settings } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { describe, test } from 'vitest'
import { itemFeedContract } from '../../testing/item-feed-contract.ts'
import { feedsFrom } from './feed-options.ts'

const OUTPUTS: Readonly<Record<string, { uri: string; options?: object }>> = {
  'Feed of lines': { uri: 'out/items.jsonl' },
  'Feed of an array': { uri: 'out/items.json' },
  'BatchedFeed of lines': { uri: 'out/%(batch_id)03d.jsonl', options: { batch_item_count: 4 } },
  'BatchedFeed of arrays': { uri: 'out/%(batch_id)03d.json', options: { batch_item_count: 4 } },
}

for (const [name, { uri, options = {} }] of Object.entries(OUTPUTS)) {
  const create = async () => {
    const dir = await tempDir()
    const subject = {
      feed(more = {}) {
        const settings = new Settings({ FEEDS: { [uri]: { ...options, ...more } } })
        return feedsFrom(settings, { spiderName: 'quotes', startedAt: new Date(), cwd: dir.path })[0]!
      },
      items() {
        return readdirSync(dir.join('out'))
          .sort()
          .flatMap((file) => itemsIn(readFileSync(dir.join(`out/${file}`), 'utf8')))
      },
      shut() {
        // A file where a folder is needed.
        writeFileSync(dir.join('out'), '')
      },
    }
    return { subject, dispose: () => dir.remove() }
  }
  itemFeedContract({ describe, test }, { name, create })
}

function itemsIn(text: string): unknown[] {
  if (text.startsWith('[')) return JSON.parse(text)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
