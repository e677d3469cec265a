import type { ItemFormat } from './item-format.ts'
import { arrayLayout, EMPTY_ARRAY } from './json-format.ts'

/** What the lines of a spool become, in their order; each is the JSON of an item. */
export interface SpoolLayout {
  text(lines: readonly string[]): string
  /** What completes the output. */
  end(): string
}

/** Lines as they are. */
export function linesLayout(): SpoolLayout {
  return { text: (lines) => lines.map((line) => `${line}\n`).join(''), end: () => '' }
}

/** One JSON array; an item is not parsed unless it is to be indented. */
export function arraySpoolLayout(indent: number | null): SpoolLayout {
  const { open, between, close, entry } = arrayLayout(indent)
  let isEmpty = true
  return {
    text(lines) {
      const before = isEmpty ? open : between
      isEmpty = false
      return before + lines.map(entry).join(between)
    },
    end: () => (isEmpty ? EMPTY_ARRAY : close),
  }
}

/** What a format makes of the items. */
export function formatLayout(format: ItemFormat): SpoolLayout {
  return {
    text: (lines) => format.text(lines.map((line): unknown => JSON.parse(line))),
    end: () => format.end(),
  }
}
