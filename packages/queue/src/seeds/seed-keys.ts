import { ScriptRefusal, SettingsError } from '@webloom/core'
import type { Redis } from 'ioredis'

/**
 * The keys of start URLs from outside. The main key keeps the name that producers know; its companions have it as their
 * hash tag, so that Redis Cluster keeps them in one slot with it.
 */
export interface SeedKeys {
  /** List, set or sorted set: messages that nobody has taken. */
  readonly main: string
  /** Hash: message id → when and by whom it was taken, and the message. */
  readonly processing: string
  /** Sorted set: message id → until when it is held. */
  readonly leases: string
  /** Hash: number of the message taken last. */
  readonly record: string
  /** `<push>:<id>`, string: how far somebody who adds many messages has come. */
  readonly push: string
  /**
   * List: messages that no request could be made of, as JSON, newest last. Named for people to find; in a Redis Cluster it has the
   * tag, as one script changes it with the others.
   */
  readonly invalid: string
}

export function seedKeys(main: string, { isCluster }: { readonly isCluster: boolean }): SeedKeys {
  const tag = hashTagged(main)
  return {
    main,
    processing: `${tag}:processing`,
    leases: `${tag}:leases`,
    record: `${tag}:record`,
    push: `${tag}:push`,
    invalid: `${isCluster ? tag : main}:invalid`,
  }
}

function hashTagged(main: string): string {
  if (/\{[^}]+\}/.test(main)) return main
  if (!/[{}]/.test(main) && main !== '') return `{${main}}`
  throw new SettingsError([
    `the key of the start URLs is ${JSON.stringify(main)}; expected a name without braces, or with one hash tag in them, as in {quotes}:start_urls`,
  ])
}

/** What start URLs can be kept in. A sorted set gives its highest score first. */
export type SeedType = 'list' | 'set' | 'zset'

/**
 * Resolves to the type of the key; undefined when it does not exist. Rejects with `SettingsError` for a key that holds something else than
 * start URLs.
 */
export async function seedTypeOf(redis: Redis, key: string): Promise<SeedType | undefined> {
  const type = await redis.type(key)
  if (type === 'list' || type === 'set' || type === 'zset') return type
  if (type === 'none') return undefined
  throw otherKind(key, type)
}

/**
 * Settles as `reply` does. When a script of `lua/seeds/` refused the key, as it has become something else than start URLs, rejects
 * with the `SettingsError` of `seedTypeOf`.
 */
export async function replyOfSeeds<T>(key: string, reply: Promise<T>): Promise<T> {
  try {
    return await reply
  } catch (error) {
    throw error instanceof ScriptRefusal && error.code === 'SEEDSKIND' ? otherKind(key, error.detail) : error
  }
}

function otherKind(key: string, type: string): SettingsError {
  return new SettingsError([
    `the key ${key} holds a ${type}; start URLs are a list, a set or a sorted set. Choose another REDIS_START_URLS_KEY (or redisKey of the spider)`,
  ])
}
