/**
 * The dashboard as a Hono app: pages that are made on the server, and what moves on them. It keeps nothing, and changes nothing of
 * the crawls unless it may.
 */

import type { CrawlDesks, HealthAnswer } from '@webloom/core'
import { type Context, Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { html } from 'hono/html'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { apiRoutes } from './api/api-routes.ts'
import { EventStreams } from './live/event-stream.ts'
import type { Query, Region } from './live/region.ts'
import { type WatchedDesk, WatchedDesks } from './live/watched-desk.ts'
import { metricsRoutes } from './metrics/metrics-routes.ts'
import { crawlPath, Page, type PageProps } from './parts/page.tsx'
import { Nothing } from './parts/values.tsx'
import { answerAsset } from './serving/assets.ts'
import { healthRoutes } from './serving/health-routes.ts'
import { loopbackNamesOnly, securityHeaders } from './serving/security.ts'
import { tokenOnly } from './serving/token.ts'
import { formRoutes, pathHere } from './steering/form-routes.ts'
import { toldWords } from './steering/told.ts'
import { type Refusal, refusalOf } from './verbs/refusal.ts'
import type { CrawlView } from './views/crawl-view.ts'
import { crawlsRegions } from './views/crawls.tsx'
import { VIEWS, viewAt } from './views/views.ts'

export interface DashboardOptions {
  readonly desks: CrawlDesks
  /** True where the dashboard listens on loopback: requests for any other host name are refused. */
  readonly isOnLoopback?: boolean
  /** Requests without this token are refused. Absent: no token is needed. */
  readonly token?: string
  /** Crawls may be told things, by the API and by buttons on the pages; default false. */
  readonly control?: boolean
  /** Ends what is still sent to open pages. */
  readonly closing?: AbortSignal
}

/** A day of samples is the most that is kept. */
const SAMPLES_MINUTES_MAX = 24 * 60
const THEMES = ['light', 'dark']
const YEAR_S = 31_536_000

export function dashboardApp({
  desks,
  isOnLoopback = false,
  token,
  control = false,
  closing,
}: DashboardOptions): Hono {
  const watched = new WatchedDesks(desks)
  const streams = new EventStreams(closing ?? new AbortController().signal)
  const app = new Hono()
  app.use(securityHeaders())
  // Before all that asks who may: they tell nothing of the crawls.
  app.route('/', healthRoutes({ alive: () => ({ ok: true }), ready: () => seesCrawls(watched) }))
  if (isOnLoopback) app.use(loopbackNamesOnly())
  if (token !== undefined) app.use(tokenOnly(token))
  app.route('/api', apiRoutes({ desks, control, hasToken: token !== undefined }))
  app.get('/assets/:name', (c) => answerAsset(c, c.req.param('name')))
  app.get('/theme', answerTheme)
  app.route('/', metricsRoutes({ desks: watched }))
  app.route('/', formRoutes({ desks, control, onTold: (id) => watched.told(id) }))
  app.get('/', (c) => {
    const page = { title: 'Crawls', events: '/events' }
    return answerPage(c, page, () => crawlsRegions(watched))
  })
  app.get('/events', (c) => streams.answer(c, () => crawlsRegions(watched)))
  app.get('/c/:id', (c) => c.redirect(`${crawlPath(c.req.param('id'))}/overview`))
  app.get('/c/:id/samples.json', async (c) => {
    const desk = await watched.desk(c.req.param('id'))
    if (!desk) return c.notFound()
    const minutes = Math.min(SAMPLES_MINUTES_MAX, Math.max(1, Number(c.req.query('minutes')) || 60))
    const samples = await desk.history(Math.round(minutes))
    return c.json(
      samples.map((one) => [one.atMs, one.pagesPerMinute, one.itemsPerMinute, one.errorsPerMinute]),
    )
  })
  app.get('/c/:id/:view', async (c) => {
    const { found, view } = await asked(c, watched)
    if (!found || !view) return answerNotFound(c)
    return answerPage(c, crawlPage(c, found, view), () => view.regions(found, c.req.query(), { control }))
  })
  app.get('/c/:id/:view/events', async (c) => {
    const { found, view } = await asked(c, watched)
    if (!found || !view) return c.text('there is no such crawl or view\n', 404)
    const query: Query = c.req.query()
    return streams.answer(c, () => view.regions(found, query, { control }))
  })
  app.notFound(answerNotFound)
  app.onError((error, c) => answerRefusal(c, refusalOf(error)))
  return app
}

/**
 * Where there is no crawl, there is no server that does not answer. A part of a cluster may be away, and with it all that is told of a crawl: pages say
 * so, and no other dashboard would have more to tell.
 */
async function seesCrawls(watched: WatchedDesks): Promise<HealthAnswer> {
  const crawls = await watched.crawls()
  const ok = crawls.length === 0 || crawls.some(({ state }) => state !== null) || (await watched.answers())
  return { ok, why: 'no Redis of its crawls answers' }
}

async function asked(
  c: Context,
  watched: WatchedDesks,
): Promise<{ found: WatchedDesk | undefined; view: CrawlView | undefined }> {
  return { found: await watched.desk(c.req.param('id')!), view: viewAt(c.req.param('view')!) }
}

function crawlPage(c: Context, { desk }: WatchedDesk, { path, title }: CrawlView) {
  const { search } = new URL(c.req.url)
  const events = `${crawlPath(desk.id)}/${path}/events${search}`
  const { id, spider, crawlId, server } = desk
  return { title, events, crawl: { id, spider, crawlId, server }, views: VIEWS, path }
}

type PageHead = Omit<PageProps, 'theme' | 'address' | 'regions' | 'trouble' | 'told'>

/** While Redis is away the page says so, and its events bring it back. */
async function answerPage(c: Context, head: PageHead, read: () => Promise<readonly Region[]>) {
  try {
    return answerHtml(c, { ...head, regions: await read() }, 200)
  } catch (error) {
    return answerHtml(c, { ...head, regions: [], trouble: (error as Error).message }, 503)
  }
}

function answerNotFound(c: Context): Response | Promise<Response> {
  const nothing = (
    <Nothing>
      There is no such page here. <a href="/">All crawls</a>
    </Nothing>
  )
  return answerHtml(c, { title: 'Not found', regions: [{ id: 'nothing', isWide: true, node: nothing }] }, 404)
}

/** What was asked for could not be done: most often a form. */
function answerRefusal(c: Context, { status, message }: Refusal): Response | Promise<Response> {
  const back = (
    <Nothing>
      <a href={pathHere(refererPath(c))}>Back</a>
    </Nothing>
  )
  const regions = [{ id: 'back', isWide: true, node: back }]
  return answerHtml(c, { title: 'Not done', trouble: message, regions }, status)
}

function refererPath(c: Context): string | undefined {
  const referer = c.req.header('referer') ?? ''
  if (!URL.canParse(referer)) return undefined
  const { pathname, search } = new URL(referer)
  return pathname + search
}

function answerHtml(
  c: Context,
  props: Omit<PageProps, 'theme' | 'address' | 'told'>,
  status: ContentfulStatusCode,
) {
  const { pathname, search } = new URL(c.req.url)
  const chosen = getCookie(c, 'theme') ?? ''
  const page = (
    <Page
      {...props}
      theme={THEMES.includes(chosen) ? chosen : undefined}
      address={`${pathname}${search}`}
      told={toldWords(c)}
    />
  )
  c.header('Cache-Control', 'no-store')
  return c.html(html`<!doctype html>${page}`, status)
}

/** Keeps the choice in a cookie, and goes back to the page it was made on: one of this site. */
function answerTheme(c: Context): Response {
  const to = c.req.query('to') ?? ''
  setCookie(c, 'theme', THEMES.includes(to) ? to : '', {
    path: '/',
    maxAge: THEMES.includes(to) ? YEAR_S : 0,
    sameSite: 'Strict',
    httpOnly: true,
  })
  return c.redirect(pathHere(c.req.query('back')))
}
