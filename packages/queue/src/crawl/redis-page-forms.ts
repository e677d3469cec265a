import { hash } from 'node:crypto'
import { type FormVerdicts, type PageForm, type PageForms, VERDICTS_MAX } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'

// For all workers. A shape takes about 100 bytes, and 200 at most: 2 MB.
const SHAPES_MAX = 16_384
// A longer one stands there as its SHA-1.
const SHAPE_LENGTH_MAX = 100

// A full Redis must not end a crawl for what only makes it cheaper.
const learnScript = new OomSafeScript('crawl/learn-form.lua')

export interface RedisPageFormsOptions {
  /** The queue's; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: Pick<CrawlRedisKeys, 'pageForms'>
  readonly shapesMax?: number
}

/**
 * The verdicts of a crawl that workers share: a hash beside the queue. Past the bound
 * each further shape has any other one forgotten: a host that makes up shapes must not keep others from being learned.
 */
export class RedisPageForms implements PageForms {
  readonly #redis: Redis
  readonly #key: string
  readonly #shapesMax: number

  constructor({ redis, keys, shapesMax = SHAPES_MAX }: RedisPageFormsOptions) {
    this.#redis = redis
    this.#key = keys.pageForms
    this.#shapesMax = shapesMax
  }

  async of(shape: string): Promise<FormVerdicts | undefined> {
    const [form, agreeing] = (await this.#redis.hget(this.#key, fieldOf(shape)))?.split(' ') ?? []
    return form === 'http' || form === 'rendered' ? { form, agreeing: Number(agreeing) } : undefined
  }

  async learn(shape: string, form: PageForm): Promise<FormVerdicts> {
    const args = [fieldOf(shape), form, VERDICTS_MAX, this.#shapesMax]
    const agreeing = Number(await learnScript.run(this.#redis, [this.#key], args))
    return { form, agreeing }
  }

  /** Called when queue and filter are emptied: the next crawl learns anew. */
  async clear(): Promise<void> {
    await this.#redis.unlink(this.#key)
  }
}

function fieldOf(shape: string): string {
  return shape.length <= SHAPE_LENGTH_MAX ? shape : hash('sha1', shape)
}
