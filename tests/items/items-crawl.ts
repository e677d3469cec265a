import type { FakeWeb } from '@webloom/testkit'
import type { SettingsInput } from 'webloom'
import { type AssembleOptions, assemble } from '../../packages/webloom/src/assembly/assemble.ts'
import { FollowAll, listeningLogger } from '../crawls/crawl-web.ts'

/** Makes a crawl of all pages of a web, each an item, and what its log gets. */
export async function itemsCrawl(
  web: FakeWeb,
  command: SettingsInput,
  options: Pick<AssembleOptions, 'folder'> & Partial<AssembleOptions>,
) {
  class Pages extends FollowAll {
    override startUrls = [...web.seeds]
  }
  const { logger, lines } = listeningLogger()
  const settings = { PRIVATE_ADDRESSES_ALLOWED: ['*'], CONCURRENT_REQUESTS_PER_DOMAIN: 8, ...command }
  const crawl = await assemble(Pages, {
    layers: { command: settings },
    createLogger: () => logger,
    ...options,
  })
  const told = () => lines.map(({ level, message }) => `${level} ${message}`)
  return { crawl, told }
}
