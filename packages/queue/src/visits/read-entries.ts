/** Entries of the wheel that one worker has read, until they are taken off it. */

/** One entry: how to ask for a page, and the bytes by which the page is known; or 8 zeros and the span to which it goes. */
export interface ReadEntry {
  readonly packed: Buffer
  readonly name: Buffer
}

export interface ReadEntries {
  readonly span: string
  /** In order. */
  readonly entries: readonly ReadEntry[]
}

/** Returns what `DuePages.token` keeps of them. */
export function tokenOf({ span, entries }: ReadEntries): string {
  return JSON.stringify([
    span,
    ...entries.flatMap(({ packed, name }) => [packed.toString('latin1'), name.toString('latin1')]),
  ])
}

/** Returns what a token says was read. */
export function readIn(token: string): ReadEntries {
  const [span, ...texts] = JSON.parse(token) as [string, ...string[]]
  const bytes = texts.map((text) => Buffer.from(text, 'latin1'))
  const entries = Array.from({ length: bytes.length / 2 }, (_, n) => ({
    packed: bytes[2 * n]!,
    name: bytes[2 * n + 1]!,
  }))
  return { span, entries }
}

/** Returns them as `readEntries` in visits/take-off.lua takes them. */
export function entryArguments(entries: readonly ReadEntry[]): (number | Buffer)[] {
  return [entries.length, ...entries.flatMap(({ packed, name }) => [packed, name])]
}
