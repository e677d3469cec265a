/** Feeds of files in a folder of each test, what they log, and a process of its own that writes one. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, Settings, silentLogger } from '@webloom/core'
import { afterEach, beforeEach } from 'vitest'
import { type FeedsContext, feedsFrom } from '../src/feeds/feed-options.ts'

const FEEDS = join(import.meta.dirname, '../src/feeds')

interface Said {
  readonly level: string
  readonly fields: Record<string, unknown>
  readonly message: string
}

/** For the tests of a file. */
export function feedsOfFile() {
  let folder = ''
  let said: Said[] = []
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'webloom-feeds-'))
    said = []
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const logger: Logger = {
    ...silentLogger,
    warn: saying('warn'),
    error: saying('error'),
    info: saying('info'),
  }

  function saying(level: string) {
    return (fields: object | string, message = '') =>
      void said.push({ level, fields: { ...(fields as object) }, message: message || String(fields) })
  }

  function feedOf(uri: string, options: object = {}, context: Partial<FeedsContext> = {}) {
    const settings = new Settings({ FEEDS: { [uri]: options } })
    const [feed] = feedsFrom(settings, {
      spiderName: 'quotes',
      startedAt: new Date(),
      cwd: folder,
      logger,
      ...context,
    })
    return feed!
  }

  async function run(
    uri: string,
    items: readonly unknown[],
    options: object = {},
    context: Partial<FeedsContext> = {},
  ) {
    const feed = feedOf(uri, options, context)
    await feed.open()
    await feed.write(items)
    await feed.close('finished')
  }

  function textOf(name: string): string {
    return readFileSync(join(folder, name), 'utf8')
  }

  /** A program that uses the feeds' sources; `body` finds `feed` open and the folder in `folder`. */
  function program(uri: string, options: object, body: string): string[] {
    const source = `
      import { feedsFrom } from ${JSON.stringify(join(FEEDS, 'index.ts'))}
      import { Settings } from '@webloom/core'
      import { writeSync } from 'node:fs'
      const folder = ${JSON.stringify(folder)}
      const settings = new Settings({ FEEDS: { ${JSON.stringify(uri)}: ${JSON.stringify(options)} } })
      const [feed] = feedsFrom(settings, { spiderName: 'quotes', startedAt: new Date(), cwd: folder })
      await feed.open()
      ${body}
    `
    return ['--conditions=webloom-source', '--no-warnings', '--input-type=module', '-e', source]
  }

  return {
    get folder(): string {
      return folder
    },
    get said(): readonly Said[] {
      return said
    },
    logger,
    feedOf,
    run,
    textOf,
    program,
    /** The program's folder decides where `@webloom/core` is found. */
    here: { cwd: FEEDS },
  }
}
