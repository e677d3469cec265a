/** The frame of every page. */

import type { Child } from 'hono/jsx'
import type { Region } from '../live/region.ts'
import { shown } from '../text/shown.ts'

export interface PageCrawl {
  readonly id: string
  readonly spider: string
  readonly crawlId: string | null
  readonly server: string
}

export interface PageLink {
  /** The last part of its address. */
  readonly path: string
  readonly title: string
}

export interface PageProps {
  readonly title: string
  readonly theme: string | undefined
  /** Its own address with what stands behind its `?`. */
  readonly address: string
  /** Where its events come from; absent: nothing on it moves. */
  readonly events?: string
  readonly crawl?: PageCrawl
  readonly views?: readonly PageLink[]
  readonly path?: string
  readonly regions: readonly Region[]
  /** What is wrong: it stands in place of the figures. */
  readonly trouble?: string
  /** What was done a moment ago, because somebody asked for it. */
  readonly told?: string | undefined
  readonly actions?: Child
}

export function crawlPath(id: string): string {
  return `/c/${encodeURIComponent(id)}`
}

export function Page(props: PageProps) {
  const { title, theme, crawl, regions, trouble, events } = props
  return (
    <html lang="en" {...(theme && { 'data-theme': theme })}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={theme ?? 'light dark'} />
        <title>{`${title}${crawl ? ` · ${shown(crawl.spider, 60)}` : ''} · Webloom`}</title>
        <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/assets/uplot.css" />
        <link rel="stylesheet" href="/assets/dashboard.css" />
        <script src="/assets/uplot.js" defer />
        <script src="/assets/dashboard.js" defer />
      </head>
      <body data-events={events} data-trouble={trouble !== undefined ? 'true' : undefined}>
        <a class="skip" href="#main">
          Skip to the figures
        </a>
        <TopBar {...props} />
        <div class={crawl ? 'shell with-views' : 'shell'}>
          {crawl && <Views {...props} />}
          <main id="main" tabindex={-1}>
            <header class="page-head">
              <h1>{title}</h1>
              {props.actions}
            </header>
            <p id="trouble" class="trouble" role="alert" hidden={trouble === undefined}>
              {trouble !== undefined && shown(trouble, 600)}
            </p>
            {props.told !== undefined && (
              <p class="told" role="status">
                {props.told}
              </p>
            )}
            <div class="regions">
              {regions.map(({ id, node, isWide }) => (
                <div id={id} class={isWide ? 'region wide' : 'region'}>
                  {node}
                </div>
              ))}
            </div>
          </main>
        </div>
      </body>
    </html>
  )
}

function TopBar({ crawl, theme, address, events }: PageProps) {
  return (
    <header class="top">
      <a class="mark" href="/" aria-label="Webloom, all crawls">
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M3 5l4.5 14L12 7l4.5 12L21 5" />
        </svg>
        <span>webloom</span>
      </a>
      {crawl && (
        <p class="crawl-name">
          <b>{shown(crawl.spider, 60)}</b>
          {crawl.crawlId !== null && <span class="id">{shown(crawl.crawlId, 40)}</span>}
          <span class="server">{shown(crawl.server, 60)}</span>
        </p>
      )}
      <p class="beat" id="beat" role="status">
        {events === undefined ? '' : <noscript>reload for newer figures</noscript>}
      </p>
      <ThemeSwitch theme={theme} address={address} />
    </header>
  )
}

/** Links, so that they work without a script. */
function ThemeSwitch({ theme, address }: Pick<PageProps, 'theme' | 'address'>) {
  const choices = [
    ['auto', 'as the system has them', <path d="M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18" />],
    [
      'light',
      'light',
      <path d="M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M19 5l-1.4 1.4M6.4 17.6L5 19" />,
    ],
    ['dark', 'dark', <path d="M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z" />],
  ] as const
  return (
    <nav class="theme" aria-label="Colours">
      {choices.map(([name, words, icon]) => (
        <a
          href={`/theme?to=${name}&back=${encodeURIComponent(address)}`}
          aria-current={(theme ?? 'auto') === name ? 'true' : undefined}
        >
          <svg class={name} viewBox="0 0 24 24" aria-hidden="true">
            {icon}
          </svg>
          <span class="unseen">Colours: {words}</span>
        </a>
      ))}
    </nav>
  )
}

function Views({ crawl, views = [], path }: PageProps) {
  return (
    <nav class="views" aria-label="Views of this crawl">
      <ul>
        {views.map((view) => (
          <li>
            <a
              href={`${crawlPath(crawl!.id)}/${view.path}`}
              aria-current={view.path === path ? 'page' : undefined}
            >
              {view.title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
