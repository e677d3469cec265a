/** A crawl of a site whose pages change, each run some hours after the one before. */

import { type TempDir, tempDir } from '@webloom/testkit'
import { vi } from 'vitest'
import { type CrawlResult, crawl, type Response, type SettingsInput, Spider } from 'webloom'
import { listeningTo } from '../crawls/listening.ts'
import { ChangingWeb, type ChangingWebOptions } from './changing-web.ts'

const HOUR = 3_600_000

export interface Item {
  readonly path: string
  readonly price: string
  readonly changed: boolean
  readonly visitsBefore: number
}

export class Shop extends Spider {
  override name = 'shop'

  override *parse(response: Response): Generator<unknown> {
    yield* response.followAll('a', { callback: this.parseItem })
  }

  *parseItem(response: Response): Generator<Item> {
    yield {
      path: new URL(response.url).pathname,
      price: response.css('.price::text').get() ?? '',
      changed: response.changed,
      visitsBefore: response.previousVisit?.visits ?? 0,
    }
  }
}

/** One crawl, run by run. */
export class Days implements AsyncDisposable {
  readonly web: ChangingWeb
  readonly #dir: TempDir
  readonly items: Item[] = []
  /** Lines of the log of the latest run. */
  said: string[] = []
  /** Called for each of them. */
  onSaid: ((message: string) => void) | undefined

  private constructor(web: ChangingWeb, dir: TempDir) {
    this.web = web
    this.#dir = dir
  }

  static async of(options: ChangingWebOptions): Promise<Days> {
    return new Days(await ChangingWeb.start(options), await tempDir())
  }

  /** A folder that goes with it. */
  folder(name: string): string {
    return this.#dir.join(name)
  }

  /** The next run, so many hours after the one before. */
  async run(hours: number, settings: SettingsInput = {}, Class: typeof Shop = Shop): Promise<CrawlResult> {
    vi.setSystemTime(Date.now() + hours * HOUR)
    const { origin } = this.web
    class Here extends Class {
      override startUrls = [`${origin}/`]
    }
    this.items.length = 0
    this.said = []
    const result = await crawl(Here, {
      settings: {
        RECRAWL: 'fixed',
        SCHEDULER_IDLE_BEFORE_CLOSE: 0,
        ...(settings.REDIS_URL === undefined && { JOBDIR: this.#dir.join('job') }),
        ...settings,
      },
      logger: listeningTo(({ message }) => {
        this.said.push(message)
        this.onSaid?.(message)
      }),
      onItem: (item) => void this.items.push(item as Item),
    })
    return result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.web[Symbol.asyncDispose]()
    await this.#dir.remove()
  }
}

export const pathsOf = (asked: readonly { readonly path: string }[]) => asked.map(({ path }) => path).sort()
