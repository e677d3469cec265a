import type { ItemFormat } from './item-format.ts'
import { arrayLayout, EMPTY_ARRAY } from './json-format.ts'

/** Makes an output of the lines of a spool, in their order; each line is the JSON of an item. */
export interface SpoolLayout {
  text(lines: readonly string[]): string
  /** Returns the text that completes the output. */
  end(): string
}

/** Returns the lines as they are. */
export function linesLayout(): SpoolLayout {
  return { text: (lines) => lines.map((line) => `${line}\n`).join(''), end: () => '' }
}

/** Makes one JSON array. An item is not parsed unless the array is indented. */
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

/** Makes what a format makes of the items. */
export function formatLayout(format: ItemFormat): SpoolLayout {
  return {
    text: (lines) => format.text(lines.map((line): unknown => JSON.parse(line))),
    end: () => format.end(),
  }
}
