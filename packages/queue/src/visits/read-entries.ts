/** Entries of the wheel that one worker has read, until they are taken off it. */

const NONE = Buffer.alloc(0)

/** What is to become of an entry, as `readEntries` in visits/take-off.lua has it. */
export interface ReadEntry {
  /** The entry as it is. */
  readonly packed: Buffer
  /** The bytes by which the page is known. */
  readonly name: Buffer
  /** Those by which it is known from now on. Absent: the same. */
  readonly now?: Buffer
  /** The record that the entry carries. */
  readonly carried?: Buffer
  /** Absent: its page goes into a line, if a request was made of it. */
  readonly fate?: 'forget' | { readonly laterSpan: number }
}

/** Entries from the front of one list of the wheel. */
export interface ReadEntries {
  readonly span: string
  /** Of each in order what the script takes. */
  readonly parts: readonly Buffer[]
}

const PARTS_PER_ENTRY = 5

/** Returns what `DuePages.token` keeps of them. */
export function tokenOf(span: string, entries: readonly ReadEntry[]): string {
  return JSON.stringify([span, ...entries.flatMap(partsOf).map((part) => part.toString('latin1'))])
}

/** Returns what a token says was read. */
export function readIn(token: string): ReadEntries {
  const [span, ...texts] = JSON.parse(token) as [string, ...string[]]
  return { span, parts: texts.map((text) => Buffer.from(text, 'latin1')) }
}

/** Returns them as `readEntries` in visits/take-off.lua takes them. */
export function entryArguments({ parts }: Pick<ReadEntries, 'parts'>): (number | Buffer)[] {
  return [parts.length / PARTS_PER_ENTRY, ...parts]
}

function partsOf({ packed, name, now = NONE, carried = NONE, fate }: ReadEntry): Buffer[] {
  const told = typeof fate === 'object' ? `${fate.laterSpan}` : (fate ?? '')
  return [packed, name, now, carried, Buffer.from(told)]
}
