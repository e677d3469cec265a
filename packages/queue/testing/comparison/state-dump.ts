/** The state of a model, and what a Redis holds, in the same form: key → value, to be compared. */

import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { historyKey } from '../../src/leasing/quarantine-history.ts'
import type { CrawlRedisKeys } from '../../src/redis/crawl-redis-keys.ts'
import { dumpOfLedger } from '../model/failure-ledger.ts'
import type { FrontierState, Line, ScoredSet, Unit } from '../model/frontier-state.ts'
import { dumpOfOutbox, minuteOf } from '../model/outbox-step.ts'

/** A hash as an object, a set and a list as an array, a sorted set as an object of scores. */
export type Dump = Record<string, unknown>

const DUMP_LUA = readFileSync(new URL('./state-dump.lua', import.meta.url), 'utf8')

export async function dumpOfRedis(redis: Redis, nowMs: number): Promise<Dump> {
  const reply = (await redis.eval(DUMP_LUA, 0, nowMs)) as [string, string, string | string[]][]
  const dump: Dump = {}
  const ids = new RegExp(`:ids:(?!${minuteOf(nowMs)}$|${minuteOf(nowMs) - 1}$)`)
  for (const [key, kind, value] of reply) {
    // What is asked for no more goes by itself.
    if (ids.test(key)) continue
    if (kind === 'string' || kind === 'list') dump[key] = value
    else if (kind === 'set') dump[key] = [...value].sort()
    else {
      const fields: Record<string, string> = {}
      for (let at = 0; at < value.length; at += 2)
        fields[value[at]!] = kind === 'zset' ? `${Number(value[at + 1])}` : value[at + 1]!
      // A count that has come back to 0 says the same as one that is absent.
      if (key.endsWith(':counts')) for (const name in fields) if (fields[name] === '0') delete fields[name]
      // Nothing that waits depends on it.
      if (key.endsWith(':counts')) delete fields.quiet
      if (Object.keys(fields).length > 0) dump[key] = fields
    }
  }
  return dump
}

export function dumpOfModel(state: FrontierState, keys: CrawlRedisKeys, nowMs: number): Dump {
  const dump: Dump = {}
  const put = (key: string, value: Record<string, string> | readonly string[] | string) => {
    if (typeof value === 'string' || Object.keys(value).length > 0) dump[key] = value
  }
  const { frontier } = keys
  const counts = Object.entries(state.counts).filter(([, count]) => count !== 0)
  const { bytes } = state.outbox
  put(keys.frontierCounts, {
    ...Object.fromEntries(counts.map(([name, count]) => [name, `${count}`])),
    ...(bytes > 0 && { outbox: `${bytes}` }),
  })
  for (const unit of state.units.values()) put(`${frontier}:unit:${unit.name}`, unitFields(unit))
  for (const [bucket, lines] of state.lines) {
    put(`${frontier}:lines:${bucket}`, mapped(lines, lineText))
    for (const { slot, entries, lists } of lines.values()) {
      if (entries) continue
      for (const [priority, list] of lists) put(`${frontier}:line:${priority}:${slot}`, list)
      put(`${frontier}:prios:${slot}`, priorities(lists.keys()))
    }
  }
  for (const [bucket, lists] of state.ready)
    for (const [priority, list] of lists) put(`${frontier}:ready:${priority}:${bucket}`, list)
  for (const [bucket, urgent] of state.urgent) put(`${frontier}:urgent:${bucket}`, priorities(urgent))
  for (const [bucket, set] of state.later) put(`${frontier}:later:${bucket}`, scores(set))
  for (const [bucket, set] of state.held) put(`${frontier}:with:${bucket}`, [...set].sort())
  for (const [bucket, set] of state.late) put(`${frontier}:late:${bucket}`, scores(set))
  for (const [lane, flight] of state.flight)
    put(
      `${frontier}:flight:${lane}`,
      mapped(flight, ({ slot, priority, text }) => `${slot}\n${priority}\n${text}`),
    )
  for (const [slot, record] of state.records) {
    const { at, next, floor, failures, paused, why, untilMs } = record
    if (untilMs >= nowMs)
      put(`${frontier}:slot:${slot}`, `${at} ${next} ${floor} ${failures} ${paused} ${why}`)
  }
  for (const [worker, tokens] of state.started) put(`${frontier}:started:${worker}`, [...tokens].sort())
  for (const name of ['paused', 'due', 'owners', 'workers'] as const)
    put(`${frontier}:${name}`, scores(state[name]))
  for (const [holder, { untilMs, tokens }] of state.lost)
    if (untilMs >= nowMs) put(`${frontier}:lost:${holder}`, tokens.join(' '))
  put(`${frontier}:heard`, scores(state.heard))
  for (const [asker, ids] of state.noted) put(`${keys.noted}:${asker}`, [...ids].sort())
  put(keys.alone, Object.fromEntries(state.alone))
  put(historyKey(keys), Object.fromEntries(state.histories))
  put(keys.quarantine, Object.fromEntries(state.quarantined))
  for (const [key, value] of dumpOfLedger(state.failures, keys.failures)) put(key, value)
  for (const [name, value] of dumpOfOutbox(state.outbox, minuteOf(nowMs))) put(`${frontier}:${name}`, value)
  return { ...dump, ...dumpOfJobs(state, keys, nowMs) }
}

/** BullMQ's part. */
export function dumpOfJobs({ jobs }: FrontierState, keys: CrawlRedisKeys, nowMs: number): Dump {
  const prefix = `${keys.base}:`
  const dump: Dump = {}
  for (const [job, { priority, delay }] of jobs.jobs)
    dump[prefix + job] = { priority: `${priority}`, delay: `${delay}` }
  for (const [job, { token, untilMs }] of jobs.locks)
    if (untilMs >= nowMs) dump[`${prefix}${job}:lock`] = token
  const { wait, active, stalled } = jobs
  for (const [name, list] of Object.entries({ wait, active }))
    if (list.length > 0) dump[prefix + name] = [...list]
  if (stalled.size > 0) dump[`${prefix}stalled`] = [...stalled].sort()
  for (const name of ['prioritized', 'delayed'] as const)
    if (jobs[name].size > 0) dump[prefix + name] = scores(jobs[name])
  if (jobs.hasMarker) dump[`${prefix}marker`] = { 0: '0' }
  if (jobs.count > 0) dump[`${prefix}pc`] = `${jobs.count}`
  return dump
}

function unitFields({ generations, holders, ...unit }: Unit): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [lane, generation] of generations.entries())
    if (generation !== undefined) fields[`g${lane}`] = generation
  for (const [lane, holder] of holders.entries()) if (holder !== undefined) fields[`o${lane}`] = holder
  const { up, urgency, asleep, folded, later, bucket, mixed } = unit
  for (const [name, value] of Object.entries({ up, urgency, asleep, folded, later, bucket, mixed }))
    if (value !== undefined) fields[name] = `${value}`
  const { rests, late, urgent, paced } = unit
  for (const [name, is] of Object.entries({ rests, late, urgent, paced })) if (is) fields[name] = '1'
  return fields
}

function lineText({ state, priority, entries, hasPriorities }: Line): string {
  const texts = entries?.map(({ priority: of, text }) => `${of} ${text.length}\n${text}`)
  return `${state}${priority}\n${texts?.join('') ?? (hasPriorities ? '@' : '@0')}`
}

function mapped<Value>(
  map: ReadonlyMap<string, Value>,
  made: (value: Value) => string,
): Record<string, string> {
  return Object.fromEntries([...map].map(([name, value]) => [name, made(value)]))
}

function scores(set: ScoredSet): Record<string, string> {
  return mapped(set, (score) => `${score}`)
}

function priorities(all: Iterable<number>): Record<string, string> {
  return Object.fromEntries([...all].filter((one) => one !== 0).map((one) => [`${one}`, `${one}`]))
}
