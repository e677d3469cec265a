/** Small pieces that many views have. */

import type { Child } from 'hono/jsx'
import { moment } from '../text/figures.ts'
import { linkOf, shown } from '../text/shown.ts'

export type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'busy'

/** A word with a colour and a sign: the colour alone tells nothing to those who do not see it. */
export function Pill({ tone, children }: { tone: Tone; children?: Child }) {
  return (
    <span class={`pill ${tone}`}>
      <span class="dot" aria-hidden="true" />
      {children}
    </span>
  )
}

/** Shows what a crawl is doing, in a word. */
export function StatePill({ state, paused }: { state: string | null; paused: boolean }) {
  if (state === null) return <Pill tone="bad">unreachable</Pill>
  if (state === 'running') return paused ? <Pill tone="warn">paused</Pill> : <Pill tone="good">running</Pill>
  return <Pill tone={state === 'stopped' ? 'warn' : 'calm'}>{state}</Pill>
}

/** An address of the web. A click leads there and tells nobody from where. */
export function WebLink({ url, max = 100 }: { url: string; max?: number }) {
  const href = linkOf(url)
  if (href === undefined) return <span class="url">{shown(url, max)}</span>
  return (
    <a class="url" href={href} rel="noreferrer noopener external" target="_blank">
      {shown(url, max)}
    </a>
  )
}

export function When({ at }: { at: string | null }) {
  return at === null ? <>–</> : <time datetime={at}>{moment(at)} UTC</time>
}

/** A name of the spider's, such as `author.birth_date`: it breaks between its parts, and not within one. */
export function Name({ text, max = 80 }: { text: string; max?: number }) {
  const parts = shown(text, max).split(/(?<=[/._-])/)
  return (
    <code class="name">
      {parts.map((part, n) => (
        <>
          {n > 0 && <wbr />}
          {part}
        </>
      ))}
    </code>
  )
}

/** One figure with its name. */
export function Figure({
  name,
  value,
  unit,
  note,
  tone,
  children,
}: {
  name: string
  value: string
  unit?: string
  note?: string
  tone?: Tone
  children?: Child
}) {
  return (
    <div class={tone ? `figure ${tone}` : 'figure'}>
      <dt>{name}</dt>
      <dd>
        <span class="value">{value}</span>
        {unit && <span class="unit"> {unit}</span>}
        {note && <span class="note">{note}</span>}
        {children}
      </dd>
    </div>
  )
}

export function Figures({ children }: { children?: Child }) {
  return <dl class="figures">{children}</dl>
}

export function Card({ title, aside, children }: { title: string; aside?: Child; children?: Child }) {
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
        {aside && <p class="aside">{aside}</p>}
      </header>
      {children}
    </section>
  )
}

/** Stands where nothing is to be shown, and says why. */
export function Nothing({ children }: { children?: Child }) {
  return <p class="nothing">{children}</p>
}
