/**
 * What visits have shown of hosts: whether their validators and dates are to be believed. A host's record is a note beside the visits, so
 * that other workers and the next run go on with it.
 *
 *   met        the note is read before the first of its pages is asked for
 *   learned    noted some seconds later, put together with what other workers have noted meanwhile: what was counted here since is added
 *              to their counts. The counts fade, so that neither is the newer one for being the greater.
 *
 * A broad crawl has nearly as many hosts as pages: a note is a few numbers.
 */

import type { VisitStore } from '../ports/visit-store.ts'

/** How a host has answered those who asked by validators. */
export interface ValidatorRecord {
  /** Pages asked for by their validators since one was last fetched whole, to check the host. */
  readonly asksSinceCheck: number
  readonly asksPerCheck: number
  /** Changes that it told, although it could have said that nothing had changed; counting stops when they suffice. */
  readonly proofs: number
  /** Answers in a row with other validators for a page that was the same. */
  readonly useless: number
  /** The host has answered 304 (not modified) for a page that had changed. */
  readonly lied: boolean
}

/** How often a host's dates were right and wrong: that a page has changed since its last visit, and that it has not. Old visits fade. */
export interface DateRecord {
  readonly changedRight: number
  readonly changedWrong: number
  readonly sameRight: number
  readonly sameWrong: number
}

export interface HostRecord {
  readonly validators?: ValidatorRecord
  /** Its Last-Modified. */
  readonly lastModified?: DateRecord
  /** `lastmod` in its sitemaps. */
  readonly lastmod?: DateRecord
}

interface Known {
  readonly record: HostRecord
  /** What the record had of the host's note: all else was learned here. */
  readonly noted: HostRecord
}

const HOSTS_MAX = 10_000
const NOTED_EVERY_MS = 10_000
const HOSTS_PER_NOTE = 500

export class KnownHosts {
  readonly #store: Pick<VisitStore, 'notes' | 'note'>
  readonly #known = new Map<string, Known>()
  readonly #learned = new Set<string>()
  #notedAtMs = performance.now()

  constructor(store: Pick<VisitStore, 'notes' | 'note'>) {
    this.#store = store
  }

  /** Called before pages of these hosts are asked for. Asks the store about hosts that this process does not know. */
  async meet(hosts: Iterable<string>): Promise<void> {
    const strangers = [...new Set(hosts)].filter((host) => !this.#known.has(host))
    if (strangers.length === 0) return
    const notes = await this.#store.notes(strangers.map(noteName))
    for (const [n, host] of strangers.entries()) this.#keep(host, this.#withNote(host, notes[n]))
  }

  of(host: string): HostRecord {
    return this.#known.get(host)?.record ?? {}
  }

  learn(host: string, learned: HostRecord): void {
    const { record, noted } = this.#known.get(host) ?? UNKNOWN
    this.#keep(host, { record: { ...record, ...learned }, noted })
    this.#learned.add(host)
  }

  /** Notes what was learned, when that was some seconds ago. Called as often as one likes. */
  async noteSoon(): Promise<void> {
    if (performance.now() - this.#notedAtMs >= NOTED_EVERY_MS) await this.noteNow()
  }

  async noteNow(): Promise<void> {
    this.#notedAtMs = performance.now()
    const learned = [...this.#learned]
    for (let at = 0; at < learned.length; at += HOSTS_PER_NOTE)
      await this.#note(learned.slice(at, at + HOSTS_PER_NOTE))
  }

  async #note(hosts: readonly string[]): Promise<void> {
    const before = await this.#store.notes(hosts.map(noteName))
    const texts = new Map<string, string>()
    for (const [n, host] of hosts.entries()) {
      const known = this.#withNote(host, before[n])
      this.#known.set(host, known)
      const text = noteText(known.record)
      if (text !== before[n]) texts.set(noteName(host), text)
      this.#learned.delete(host)
    }
    try {
      await this.#store.note(texts)
    } catch (error) {
      for (const host of hosts) this.#learned.add(host)
      throw error
    }
    for (const host of hosts) {
      const known = this.#known.get(host)
      const text = texts.get(noteName(host))
      if (known && text !== undefined) this.#known.set(host, { ...known, noted: readNote(text) })
    }
  }

  /** Takes in what others have noted of a host. */
  #withNote(host: string, text: string | undefined): Known {
    const { record, noted } = this.#known.get(host) ?? UNKNOWN
    const note = readNote(text)
    return { record: merged(record, noted, note), noted: note }
  }

  #keep(host: string, known: Known): void {
    const [oldest] = this.#known.keys()
    // What is forgotten is read again, or learned.
    if (oldest !== undefined && this.#known.size >= HOSTS_MAX && !this.#known.has(host)) {
      this.#known.delete(oldest)
      this.#learned.delete(oldest)
    }
    this.#known.set(host, known)
  }
}

const UNKNOWN: Known = { record: {}, noted: {} }

/** Returns the host of a page as it is known here, its port included. */
export function pageHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}

function noteName(host: string): string {
  return `host/${host}`
}

/**
 * Returns what is known of a host when two processes have each seen a part of it.
 *
 * @param noted what `own` began with
 */
function merged(own: HostRecord, noted: HostRecord, other: HostRecord): HostRecord {
  const [validators, others] = [own.validators ?? other.validators, other.validators ?? own.validators]
  const lastModified = added(own.lastModified, noted.lastModified, other.lastModified)
  const lastmod = added(own.lastmod, noted.lastmod, other.lastmod)
  return {
    ...(validators &&
      others && {
        validators: {
          ...validators,
          asksPerCheck: Math.max(validators.asksPerCheck, others.asksPerCheck),
          proofs: Math.max(validators.proofs, others.proofs),
          lied: validators.lied || others.lied,
        },
      }),
    ...(lastModified && { lastModified }),
    ...(lastmod && { lastmod }),
  }
}

/** Adds to the counts of others what was counted here since theirs were read. A note that is gone is made anew. */
function added(own?: DateRecord, noted?: DateRecord, other?: DateRecord): DateRecord | undefined {
  if (!own || !other) return own ?? other
  const sum = (field: keyof DateRecord) => Math.max(0, other[field] + own[field] - (noted?.[field] ?? 0))
  return {
    changedRight: sum('changedRight'),
    changedWrong: sum('changedWrong'),
    sameRight: sum('sameRight'),
    sameWrong: sum('sameWrong'),
  }
}

// Three groups of numbers: validators, Last-Modified, sitemaps. Dates are counted in tenths.
const TENTHS = 10

function noteText({ validators, lastModified, lastmod }: HostRecord): string {
  const { asksSinceCheck = 0, asksPerCheck = 0, proofs = 0, useless = 0, lied = false } = validators ?? {}
  const groups = [
    validators ? [asksSinceCheck, asksPerCheck, proofs, useless, lied ? 1 : 0] : [],
    dateNumbers(lastModified),
    dateNumbers(lastmod),
  ]
  return groups.join('|').replace(/\|+$/, '')
}

function dateNumbers(record: DateRecord | undefined): number[] {
  if (!record) return []
  const { changedRight, changedWrong, sameRight, sameWrong } = record
  return [changedRight, changedWrong, sameRight, sameWrong].map((count) => Math.round(count * TENTHS))
}

/** Returns the record that a note holds; an empty one for a text that is no such note. */
function readNote(text = ''): HostRecord {
  const [validators, lastModified, lastmod] = text.split('|').map(numbersIn)
  const dates = { lastModified: datesOf(lastModified), lastmod: datesOf(lastmod) }
  const known = validators?.length === 5 ? validatorsOf(validators) : undefined
  return {
    ...(known && { validators: known }),
    ...(dates.lastModified && { lastModified: dates.lastModified }),
    ...(dates.lastmod && { lastmod: dates.lastmod }),
  }
}

function numbersIn(group: string): number[] {
  const numbers = group.split(',').map(Number)
  return group !== '' && numbers.every((number) => Number.isInteger(number) && number >= 0) ? numbers : []
}

function validatorsOf(numbers: readonly number[]): ValidatorRecord {
  const [asksSinceCheck, asksPerCheck, proofs, useless, lied] = numbers as [
    number,
    number,
    number,
    number,
    number,
  ]
  return { asksSinceCheck, asksPerCheck, proofs, useless, lied: lied === 1 }
}

function datesOf(numbers: readonly number[] = []): DateRecord | undefined {
  if (numbers.length !== 4) return undefined
  const [changedRight, changedWrong, sameRight, sameWrong] = numbers.map((count) => count / TENTHS) as [
    number,
    number,
    number,
    number,
  ]
  return { changedRight, changedWrong, sameRight, sameWrong }
}
