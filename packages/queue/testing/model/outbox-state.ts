/** What a shard holds of outboxes, its own and those of others. */

export interface ModelSpans {
  from: number
  spans: { epoch: string; to: number }[]
}

export interface ModelApplied {
  upTo: number
  readonly beyond: Set<number>
}

export interface ModelOutbox {
  /** By receiver. */
  readonly sent: Map<string, ModelSpans>
  readonly lists: Map<string, string[]>
  /** In all lists, about: see `lua/outbox/trim.lua`. */
  bytes: number
  /** By sender, then by epoch. */
  readonly applied: Map<string, Map<string, ModelApplied>>
  /** By minute: `<asker>\n<id>`. */
  readonly ids: Map<number, Set<string>>
}

export function newOutbox(): ModelOutbox {
  return { sent: new Map(), lists: new Map(), bytes: 0, applied: new Map(), ids: new Map() }
}
