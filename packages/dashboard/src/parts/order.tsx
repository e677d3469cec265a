/** Forms by which a crawl is told things. They are plain, so that they work without a script. */

import type { Child } from 'hono/jsx'
import { BACK } from '../steering/form-routes.ts'
import { crawlPath } from './page.tsx'

export interface OrderProps {
  /** Of the crawl. */
  readonly id: string
  /** As the API has it: `pause`. */
  readonly verb: string
  /** What it takes that nobody types. */
  readonly fields?: Readonly<Record<string, string>>
  /** The page that it stands on: its last part, with what is behind its `?`. */
  readonly back: string
  readonly children?: Child
}

/** A form with its button, and what is typed before that. */
export function Order({ id, verb, fields = {}, back, children }: OrderProps) {
  return (
    <form class="order" method="post" action={`${crawlPath(id)}/do/${verb}`}>
      {Object.entries({ ...fields, [BACK]: `${crawlPath(id)}/${back}` }).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  )
}

/** Shows a button that opens what it asks: what cannot be taken back is two clicks away. */
export function Opened({ id, words, children }: { id: string; words: string; children?: Child }) {
  return (
    <details class="opened" id={id}>
      <summary>{words}</summary>
      {children}
    </details>
  )
}
