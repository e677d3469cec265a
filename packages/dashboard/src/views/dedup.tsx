/** The dupefilter: how much it holds, how well it fits, and whether it knows a URL. */

import { type FilterSeen, InvalidUrl, type KnownSeen } from '@webloom/core'
import type { Query, Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'
import { Meter } from '../parts/drawn.tsx'
import { crawlPath } from '../parts/page.tsx'
import { Card, Figure, Figures, Nothing, Pill } from '../parts/values.tsx'
import { byteSize, grouped, percent, rounded } from '../text/figures.ts'
import { shown } from '../text/shown.ts'
import type { CrawlView } from './crawl-view.ts'

export const dedup: CrawlView = { path: 'dedup', title: 'Dedup', regions }

/** Longer ones no crawl takes. */
const URL_CHARS_MAX = 8192

async function regions(watched: WatchedDesk, query: Query): Promise<readonly Region[]> {
  const url = (query.url ?? '').trim().slice(0, URL_CHARS_MAX)
  const [status, seen] = await Promise.all([watched.status(), filterOf(watched)])
  const filtered = Number(status.stats['dupefilter/filtered'] ?? 0)
  return [
    {
      id: 'known',
      isStill: true,
      isWide: true,
      node: <Known id={watched.desk.id} url={url} answer={await answerOf(watched, url)} />,
    },
    {
      id: 'filter',
      isWide: true,
      node:
        typeof seen === 'string' ? (
          <Card title="The filter">
            <Nothing>{shown(seen, 300)}</Nothing>
          </Card>
        ) : (
          <Filter seen={seen} filtered={filtered} />
        ),
    },
  ]
}

/** What it says of itself, or why that is not known. */
async function filterOf(watched: WatchedDesk): Promise<FilterSeen | string> {
  try {
    return (await watched.view('filter')) ?? 'Not known.'
  } catch (error) {
    if (isAnswer(error)) return error.message
    throw error
  }
}

/** An error of ours with a code tells what cannot be; others, that Redis is away. */
function isAnswer(error: unknown): error is Error {
  return error instanceof Error && /^WL_(?!REDIS)/.test(String((error as { code?: unknown }).code ?? ''))
}

async function answerOf({ desk }: WatchedDesk, url: string): Promise<KnownSeen | string | undefined> {
  if (url === '' || !desk.isKnown) return undefined
  try {
    return await desk.isKnown(url)
  } catch (error) {
    if (error instanceof InvalidUrl || isAnswer(error)) return error.message
    throw error
  }
}

function Known({ id, url, answer }: { id: string; url: string; answer: KnownSeen | string | undefined }) {
  return (
    <search>
      <form class="find" action={`${crawlPath(id)}/dedup`} method="get">
        <label for="url">Has the crawl seen this URL?</label>
        <input
          id="url"
          name="url"
          value={url}
          maxlength={URL_CHARS_MAX}
          placeholder="https://example.com/page?id=1"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          required
        />
        <button type="submit">Ask</button>
      </form>
      {typeof answer === 'string' && <p class="answer bad">{shown(answer, 300)}</p>}
      {typeof answer === 'object' && (
        <p class="answer" role="status">
          <Pill tone={answer.known === null ? 'warn' : answer.known ? 'good' : 'calm'}>
            {answer.known === null
              ? 'this filter cannot tell'
              : answer.known
                ? 'seen before'
                : 'not seen yet'}
          </Pill>
          <span class="url">{shown(answer.url, 200)}</span>
          <span>
            fingerprint <code>{shown(answer.fingerprint, 80)}</code>
          </span>
        </p>
      )}
    </search>
  )
}

function Filter({ seen, filtered }: { seen: FilterSeen; filtered: number }) {
  const { name, fingerprinter, urlRules, count, capacity, fill, errorNow, errorAtCapacity, pagesLost } = seen
  return (
    <Card title={shown(name, 60)} aside={seen.exists ? undefined : 'nothing was recorded yet'}>
      <Figures>
        <Figure
          name="Recorded"
          value={grouped(count)}
          {...(capacity !== null && { note: `of ${grouped(capacity)} that it holds` })}
        >
          {capacity !== null && (
            <Meter share={count / capacity} label={`${percent(count / capacity)} of its capacity`} />
          )}
        </Figure>
        <Figure name="Links seen before" value={grouped(filtered)} />
        {fill !== null && <Figure name="Bits set" value={percent(fill, 1)} />}
        {errorNow !== null && (
          <Figure
            name="Error now"
            value={errorWords(errorNow)}
            {...(errorAtCapacity !== null && { note: `${errorWords(errorAtCapacity)} when it is full` })}
          />
        )}
        {pagesLost !== null && (
          <Figure
            name="Pages lost by now"
            value={
              pagesLost === 0
                ? 'none'
                : pagesLost < 0.5
                  ? 'less than one'
                  : `about ${grouped(Math.round(pagesLost))}`
            }
            {...(pagesLost >= 0.5 && { tone: 'warn' as const })}
          />
        )}
        {seen.memoryBytes !== null && <Figure name="Memory" value={byteSize(seen.memoryBytes)} />}
      </Figures>
      <dl class="pairs">
        <dt>Fingerprints by</dt>
        <dd>{shown(fingerprinter, 80)}</dd>
        {urlRules !== null && (
          <>
            <dt>URLs by</dt>
            <dd>{shown(urlRules, 40)}</dd>
          </>
        )}
      </dl>
      {seen.warnings.map((warning) => (
        <p class="warning">{shown(warning, 400)}</p>
      ))}
    </Card>
  )
}

/** `3.2e-7` as `1 in 3.1M`. */
function errorWords(error: number): string {
  if (error === 0) return 'none'
  return error > 0.1 ? percent(error) : `1 in ${rounded(1 / error)}`
}
