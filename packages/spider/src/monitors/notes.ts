/** How what is noted of a run changes: values in, values out. */

import { randomUUID } from 'node:crypto'
import type { AlertSeen, MonitorNotes, Notification, RunLook, RunSeen } from '@webloom/core'
import { withoutUrlSecrets } from '@webloom/core'
import { oneLine } from '../notifications/one-line.ts'
import { PAGES_STAT } from './example-pages.ts'
import type { Finding } from './finding.ts'

const ALERTS_MAX = 50
/** Of those for which there is no room. */
const OTHERS = 'others'
const OTHERS_NAMED_MAX = 5
const WORDS_CHARS_MAX = 500
/** While a channel is away, a run of many hours may have more to tell than anybody reads. */
const OUTBOX_MAX = 20
/** An alert is over when looks have not found it for so long: as Alertmanager has it. */
export const RESOLVED_AFTER_MS = 300_000

/** What is raised or resolved is told to these. */
export interface Audience {
  readonly spider: string
  /** Null without CRAWL_ID. */
  readonly crawlId?: string | null
  /** The line that shows more of it, to be typed. */
  readonly more?: string
  /** Names of channels. */
  readonly channels: readonly string[]
}

/** Names the end of a run whose crawl is gone from Redis. */
export const LOST_END = 'crawl_lost'

/** Returns what names an end of a run. */
export function endOf({ endedAt, state }: Pick<RunSeen, 'endedAt' | 'state'>): string {
  return endedAt ?? state
}

/** Returns true when all of that end is judged. */
export function isJudged({ judgedEnd }: MonitorNotes, end: string): boolean {
  return judgedEnd?.at === end && !judgedEnd.isWithoutCustom
}

/** A run that goes on: what was found at its end is found again at the next, if it still holds. */
export function goneOn(notes: MonitorNotes): MonitorNotes {
  if (!notes.judgedEnd) return notes
  const { judgedEnd, ...others } = notes
  return {
    ...others,
    alerts: notes.alerts.filter(({ id }) => !judgedEnd.alerts.includes(id)),
    outbox: notes.outbox.filter(({ notification }) => notification.finishReason === undefined),
  }
}

/** Notes what was not found before, and what is to be told of it. */
export function withRaised(
  notes: MonitorNotes,
  findings: readonly Finding[],
  { look, nowMs, audience }: { readonly look: RunLook; readonly nowMs: number; readonly audience: Audience },
): { readonly notes: MonitorNotes; readonly raised: readonly AlertSeen[] } {
  const standing = new Set(notes.alerts.filter(stands).map(({ id }) => id))
  const fresh = findings.filter(({ id }) => !standing.has(id))
  const replaced = new Set(fresh.map(({ id }) => id))
  const kept = notes.alerts.filter(({ id }) => !replaced.has(id))
  const room = Math.max(0, ALERTS_MAX - kept.length)
  const others = standing.has(OTHERS) ? [] : othersOf(fresh.slice(room))
  const raised = [...fresh.slice(0, room), ...others].map((finding) => alertOf(finding, look, nowMs))
  return {
    notes: withMessage({ ...notes, alerts: [...kept, ...raised] }, { raised, look, audience }),
    raised,
  }
}

/** Notes what has not been found for minutes any more. At the end of a run it need not be minutes. */
export function withResolved(
  notes: MonitorNotes,
  found: readonly Finding[],
  given: {
    readonly look: RunLook
    readonly nowMs: number
    readonly audience: Audience
    readonly afterMs?: number
    readonly isMeant?: (id: string) => boolean
  },
): MonitorNotes {
  const { look, nowMs, audience, afterMs = RESOLVED_AFTER_MS, isMeant = () => true } = given
  const ids = new Set(found.map(({ id }) => id))
  const clean = notes.alerts.filter((alert) => stands(alert) && !ids.has(alert.id) && alert.id !== OTHERS)
  const since = Object.fromEntries(clean.map(({ id }) => [id, notes.cleanSince?.[id] ?? nowMs]))
  const over = clean.filter(({ id }) => isMeant(id) && nowMs - since[id]! >= afterMs)
  const at = new Date(nowMs).toISOString()
  const resolved = over.map((alert) => ({ ...alert, resolvedAt: at }))
  const alerts = notes.alerts.map((alert) => resolved.find(({ id }) => id === alert.id) ?? alert)
  return withMessage({ ...notes, alerts, cleanSince: since }, { raised: [], resolved, look, audience })
}

/** Returns the notes without the number of messages that had no room, and that number: it is told once. */
export function withoutUnkept({ unkept = 0, ...notes }: MonitorNotes): readonly [MonitorNotes, number] {
  return [notes, unkept]
}

/** A message that was sent on that channel, or will not be. */
export function withoutChannel(notes: MonitorNotes, messageId: string, channel: string): MonitorNotes {
  const outbox = notes.outbox.flatMap((message) => {
    if (message.notification.id !== messageId) return [message]
    const to = message.to.filter((name) => name !== channel)
    return to.length > 0 ? [{ ...message, to }] : []
  })
  return { ...notes, outbox }
}

/** Notes that a channel did not take a message: it is `lost`, or another try follows. */
export function withFailure(
  notes: MonitorNotes,
  channel: string,
  { reason, atMs, isLost }: { readonly reason: string; readonly atMs: number; readonly isLost: boolean },
): MonitorNotes {
  const lost = (notes.failures?.[channel]?.lost ?? 0) + Number(isLost)
  const failure = { lost, reason: reason.slice(0, WORDS_CHARS_MAX), at: new Date(atMs).toISOString() }
  return { ...notes, failures: { ...notes.failures, [channel]: failure } }
}

function stands({ resolvedAt }: AlertSeen): boolean {
  return resolvedAt === undefined
}

function withMessage(
  notes: MonitorNotes,
  {
    raised,
    resolved = [],
    look,
    audience: { spider, crawlId, more, channels },
  }: {
    readonly raised: readonly AlertSeen[]
    readonly resolved?: readonly AlertSeen[]
    readonly look: RunLook
    readonly audience: Audience
  },
): MonitorNotes {
  if (raised.length + resolved.length === 0) return notes
  const { run } = look
  const notification: Notification = {
    id: randomUUID(),
    spider,
    ...(typeof crawlId === 'string' && { crawlId }),
    run: run.run,
    ...(more !== undefined && { more }),
    alerts: raised,
    ...(resolved.length > 0 && { resolved }),
    pages: run.pages,
    items: run.items,
    ...(run.endedAt !== undefined && { finishReason: run.finishReason ?? run.state }),
  }
  const outbox = [...notes.outbox, { notification, to: channels }]
  const unkept = outbox.splice(0, outbox.length - OUTBOX_MAX).flatMap(({ to }) => to)
  if (unkept.length === 0) return { ...notes, outbox }
  const told = unkept.reduce((noted, channel) => {
    const reason = noted.failures?.[channel]?.reason ?? `${OUTBOX_MAX} newer messages wait`
    return withFailure(noted, channel, { reason, atMs: look.atMs, isLost: true })
  }, notes)
  return { ...told, outbox, unkept: (notes.unkept ?? 0) + unkept.length }
}

function othersOf(findings: readonly Finding[]): Finding[] {
  if (findings.length === 0) return []
  const named = findings
    .slice(0, OTHERS_NAMED_MAX)
    .map(({ id }) => id)
    .join(', ')
  return [
    {
      id: OTHERS,
      words: `and ${findings.length} others (${named}${findings.length > OTHERS_NAMED_MAX ? ', …' : ''}); only ${ALERTS_MAX} alerts of a run are kept`,
    },
  ]
}

function alertOf({ id, words, field }: Finding, look: RunLook, nowMs: number): AlertSeen {
  const pages = field === undefined ? [] : pagesOf(look.stats[`${PAGES_STAT}${field}`])
  return {
    id,
    // What a monitor of the spider's own says may have an address in it.
    words: oneLine(withoutUrlSecrets(words)).slice(0, WORDS_CHARS_MAX),
    at: new Date(nowMs).toISOString(),
    ...(pages.length > 0 && { pages }),
  }
}

function pagesOf(stat: unknown): string[] {
  return typeof stat === 'string' ? (JSON.parse(stat) as string[]) : []
}
