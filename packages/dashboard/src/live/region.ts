import type { Child } from 'hono/jsx'

/** A part of a page that moves by itself, or stays as it was sent. */
export interface Region {
  /** Unique on its page. */
  readonly id: string
  readonly node: Child
  /** True for a region that is sent only once: a form that is filled in, a picture that the script draws. */
  readonly isStill?: boolean
  /** Takes the whole width. */
  readonly isWide?: boolean
}

/** What an address has behind its `?`. */
export type Query = Readonly<Record<string, string>>

export async function htmlOf(node: Child): Promise<string> {
  return String(await node)
}
