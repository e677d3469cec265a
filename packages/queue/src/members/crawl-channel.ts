/**
 * The Redis pub/sub channels of a crawl: what its workers tell each other, over one connection that listens.
 *
 * A message only saves waiting time. A worker that misses one finds the same in Redis with its next heartbeat, with the next
 * look at the turns, or when it next takes a request of that host.
 */

import { reconnectWith, redisError, storeTrouble } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { Hunger, Nudge } from '../frontier/turn-protocol.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { type HungryWord, hungryIn, hungryText } from './hungry-word.ts'

/** The counts that one worker found when it looked at all turns of the crawl. */
export interface Swept {
  /** Id of the worker that looked, and that will look again. */
  readonly worker: string
  readonly workers: number
  /** Turns that wait in BullMQ. */
  readonly waiting: number
  /** Of these, how many of units of which no worker has a turn. */
  readonly unserved: number
  /** Requests that are waiting, delayed or leased. */
  readonly requests: number
}

export interface CrawlListener {
  /** A host of which several workers have turns is paused: requests that lie ready must wait. `host` as in keys. */
  onPause?(host: string, ms: number): void
  onSwept?(swept: Swept): void
  /** A worker has nothing to do, and BullMQ has no turn at hand. */
  onHungry?(worker: string, hunger: Hunger): void
  /** A unit that a worker holds has got requests when it had none, or more urgent ones than before. */
  onNudged?(worker: string, nudge: Nudge): void
  /** A shard has turns for whoever waits there, or will have. */
  onTurns?(shard: string): void
  /** A shard was swept: whether it has nothing at all, and whether a link is in doubt there. */
  onRest?(isQuiet: boolean, mayDoubt: boolean): void
  /** A shard has nothing for others. */
  onSentAll?(): void
  /** A shard that had nothing has something, or a message that said so may have been missed. */
  onStirred?(): void
  /** The same of what it has for others. */
  onSends?(): void
  /** A pause or stop was asked for, or may have been while this connection was down. The record has it. */
  onAsked?(): void
}

export interface CrawlChannelOptions {
  /** Left open; a connection that listens is made of it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** Listens for channels of several shards. Default: a connection of this channel's own. */
  readonly listening?: ListeningConnection
  /** Tells of a shard's worker that has nothing to do. Default: a message. */
  readonly tellHungry?: (worker: string, hunger: Hunger) => void
}

/** What several shards have to say of a worker goes as one message, if it is said within so long. */
const HUNGRY_GATHER_MS = 20

/** One connection, and what it listens for. */
export class ListeningConnection {
  readonly #redis: Redis
  readonly #channels = new Map<string, (message: string) => void>()
  readonly #onHearing: (() => void)[] = []

  /** @param redis left open; a connection that listens is made of it */
  constructor(redis: Redis) {
    // ioredis would subscribe again by itself, and nobody would hear when that fails: the process would end.
    this.#redis = redis.duplicate({ lazyConnect: true, autoResubscribe: false })
    reconnectWith(redis, this.#redis)
    // The crawl's own connection, to the same server, is the one that complains.
    this.#redis.on('error', () => {})
    this.#redis.on('message', (channel, message) => this.#channels.get(channel)?.(message))
  }

  /**
   * Called before it is opened.
   *
   * @param onHearing called whenever it hears, after a time in which it may have missed something
   */
  add(channels: ReadonlyMap<string, (message: string) => void>, onHearing: () => void): void {
    for (const [channel, heard] of channels) this.#channels.set(channel, heard)
    this.#onHearing.push(onHearing)
  }

  /**
   * Resolves when it hears. A connection to a cluster that is made anew (`reconnectWith`) does not send again what it was asked before: it is
   * asked again once it is ready.
   */
  async open(): Promise<void> {
    const hearing = Promise.withResolvers<void>()
    let isAsked = false
    const ask = () => {
      if (isAsked) return
      isAsked = true
      void this.#subscribe()
        .then(hearing.resolve, (error: unknown) => {
          if (storeTrouble(redisError(error)) === undefined) hearing.reject(error)
        })
        .finally(() => {
          isAsked = false
        })
    }
    this.#redis.on('ready', ask)
    this.#redis.once('end', () => hearing.reject(new Error('Connection is closed.')))
    ask()
    await hearing.promise
  }

  close(): void {
    this.#redis.disconnect()
  }

  async #subscribe(): Promise<void> {
    await this.#redis.subscribe(...this.#channels.keys())
    for (const hears of this.#onHearing) hears()
  }
}

export class CrawlChannel {
  readonly #redis: Redis
  readonly #hungryName: string
  readonly #turnsName: string
  readonly #listening: ListeningConnection
  readonly #listeners: CrawlListener[] = []
  readonly #tellHungry: (worker: string, hunger: Hunger) => void
  /** Of shards, by their place in the crawl. */
  readonly #shards: CrawlChannel[] = []
  /** Each with whether the worker has fewer buckets there than its share. */
  readonly #hungryShards = new Map<number, boolean>()
  #wanted = 0

  constructor({ redis, keys, listening = new ListeningConnection(redis), tellHungry }: CrawlChannelOptions) {
    const channels = new Map<string, (message: string) => void>([
      [`${keys.frontier}:pauses`, (message) => this.#paused(message)],
      [`${keys.frontier}:sweeps`, (message) => this.#swept(message)],
      [`${keys.frontier}:hungry`, (message) => this.#hungry(message)],
      [`${keys.frontier}:nudges`, (message) => this.#nudged(message)],
      [`${keys.frontier}:turns`, (shard) => this.#turns(shard)],
      [`${keys.frontier}:rests`, (message) => this.#rests(message)],
      [`${keys.record}:asked`, () => this.#asked()],
    ])
    this.#redis = redis
    this.#hungryName = `${keys.frontier}:hungry`
    this.#tellHungry = tellHungry ?? ((worker, hunger) => this.#sayHungry({ worker, ...hunger }))
    this.#turnsName = `${keys.frontier}:turns`
    this.#listening = listening
    // Whatever was asked before it heard is looked up.
    listening.add(channels, () => {
      this.#asked()
      this.#mayHaveMissed()
    })
  }

  open(): Promise<void> {
    return this.#listening.open()
  }

  close(): void {
    this.#listening.close()
  }

  /** The channel of a shard of the crawl, over the same connection: opened and closed with this one. */
  ofShard(keys: CrawlRedisKeys): CrawlChannel {
    const shard = this.#shards.length
    const tellHungry = (worker: string, hunger: Hunger) => this.#gatherHungry(worker, shard, hunger)
    const channel = new CrawlChannel({ redis: this.#redis, keys, listening: this.#listening, tellHungry })
    this.#shards.push(channel)
    return channel
  }

  /** Tells the others that this worker has nothing to do. */
  hungry(worker: string, hunger: Hunger): void {
    this.#tellHungry(worker, hunger)
  }

  /** Tells the others that a shard has turns. */
  turnsCame(shard: string): void {
    this.#publish(this.#turnsName, shard)
  }

  listen(listener: CrawlListener): void {
    this.#listeners.push(listener)
  }

  #paused(message: string): void {
    const [ms, host] = message.split('\n', 2)
    for (const listener of this.#listeners) listener.onPause?.(host!, Number(ms))
  }

  #swept(message: string): void {
    const [worker, ...counts] = message.split('\n')
    const [workers, waiting, requests, unserved] = counts.map(Number)
    const swept = {
      worker: worker!,
      workers: workers!,
      waiting: waiting!,
      requests: requests!,
      unserved: unserved!,
    }
    for (const listener of this.#listeners) listener.onSwept?.(swept)
  }

  #publish(channel: string, message: string): void {
    void this.#redis.publish(channel, message).catch(() => {})
  }

  /** Each shard says how many all of them want, or a part of that. */
  #gatherHungry(worker: string, shard: number, { wants, isBelowShare }: Hunger): void {
    this.#hungryShards.set(shard, isBelowShare)
    this.#wanted = Math.max(this.#wanted, wants)
    if (this.#hungryShards.size > 1) return
    setTimeout(() => {
      this.#sayHungry({ worker, wants: this.#wanted, isBelowShare, shards: this.#hungryShards })
      this.#hungryShards.clear()
      this.#wanted = 0
    }, HUNGRY_GATHER_MS)
  }

  #sayHungry(word: HungryWord): void {
    this.#publish(this.#hungryName, hungryText(word))
  }

  #hungry(message: string): void {
    const { worker, wants, isBelowShare, shards } = hungryIn(message)
    if (!shards) this.#heardHungry(worker, { wants, isBelowShare })
    else
      for (const [shard, channel] of this.#shards.entries()) {
        const isBelow = shards.get(shard)
        if (isBelow !== undefined)
          channel.#heardHungry(worker, { wants: wants / shards.size, isBelowShare: isBelow })
      }
  }

  #heardHungry(worker: string, hunger: Hunger): void {
    for (const listener of this.#listeners) listener.onHungry?.(worker, hunger)
  }

  #nudged(message: string): void {
    const [worker = '', priority, unit = '', slot] = message.split('\n')
    const nudge = { unit, priority: Number(priority), ...(slot && { slot }) }
    for (const listener of this.#listeners) listener.onNudged?.(worker, nudge)
  }

  #turns(shard: string): void {
    for (const listener of this.#listeners) listener.onTurns?.(shard)
  }

  #rests(message: string): void {
    const [isQuiet, mayDoubt] = message.split(' ')
    for (const listener of this.#listeners)
      if (message === 'quiet') listener.onStirred?.()
      else if (message === 'still') listener.onSends?.()
      else if (message === '') listener.onSentAll?.()
      else listener.onRest?.(isQuiet === '1', mayDoubt === '1')
  }

  #mayHaveMissed(): void {
    for (const listener of this.#listeners) {
      listener.onStirred?.()
      listener.onSends?.()
    }
  }

  #asked(): void {
    for (const listener of this.#listeners) listener.onAsked?.()
  }
}
