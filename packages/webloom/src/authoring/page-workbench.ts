/** What the commands share that look at single pages: fetch, view, parse and shell. */

import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DownloadError, Request, UsageError } from '@webloom/core'
import { type Response, Spider, type SpiderClass } from '@webloom/spider'
import { crawlBaseOf } from '../assembly/crawl-base.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { type CrawlFlags, givenSettings, spiderArguments } from '../loading/crawl-flags.ts'
import { projectOfSpider } from '../loading/named-spider.ts'
import { findSpider, isSpiderFile, loadProjectSpiders, loadSpiderFile } from '../loading/spider-loader.ts'
import { shellQuoted } from '../terminal/resume-line.ts'
import { Workbench } from './workbench.ts'

/** The flags of such commands. */
export interface PageFlags extends Pick<CrawlFlags, 'set' | 'argument' | 'loglevel' | 'nolog'> {
  readonly spider?: string
  /** False: redirects are shown, not followed. */
  readonly redirect?: boolean
  /** True: a browser renders the pages. */
  readonly browser?: boolean
}

/** For pages that no spider of the project is for. */
class Visitor extends Spider {
  override name = 'visitor'
  override parse(): undefined {}
}

/** @param url the page, by whose host the spider is chosen where the flags name none */
export async function openWorkbench(
  url: string | undefined,
  flags: PageFlags,
  config: LoadedConfig | undefined,
): Promise<Workbench> {
  return openWorkbenchOf(await spiderClass(url, flags, config), flags, config)
}

export function openWorkbenchOf(
  Class: SpiderClass,
  flags: PageFlags,
  config: LoadedConfig | undefined,
): Promise<Workbench> {
  const base = crawlBaseOf(flags, config)
  const command = { ...base.layers?.command, ...quietUnlessAsked(flags) }
  return Workbench.open(Class, { ...base, layers: { ...base.layers, command } })
}

async function spiderClass(
  url: string | undefined,
  flags: PageFlags,
  config: LoadedConfig | undefined,
): Promise<SpiderClass> {
  const named = flags.spider
  if (named !== undefined && isSpiderFile(named)) return loadSpiderFile(named)
  if (named !== undefined) {
    const command = givenSettings(flags)
    const project = config ?? (await projectOfSpider(named, command))
    return (await findSpider(project, named, spiderArguments(flags), command)).Class
  }
  const host = url === undefined ? undefined : URL.parse(url)?.hostname
  if (!config || host === undefined) return Visitor
  const { spiders } = await loadProjectSpiders(config, spiderArguments(flags), givenSettings(flags))
  const its = spiders.filter(({ name, Class }) => isFor(host, name, new Class(spiderArguments(flags))))
  return its.length === 1 ? its[0]!.Class : Visitor
}

/** Throws where a callback is to run, and no spider was found that has it. */
export function refuseVisitor({ spider }: Workbench, url: string): void {
  if (!(spider instanceof Visitor)) return
  throw new UsageError(
    'WL_SPIDER_NOT_FOUND',
    `which spider? No spider here, or more than one, is for ${new URL(url).host || url} (allowedDomains); name one with  --spider <name>  or  --spider <file>`,
  )
}

/** As Scrapy chooses: by the spider's name and allowed domains. */
function isFor(host: string, name: string, { allowedDomains }: Spider): boolean {
  return [name, ...allowedDomains].some((domain) => host === domain || host.endsWith(`.${domain}`))
}

function quietUnlessAsked({ loglevel, set = [] }: PageFlags): { LOG_LEVEL?: string } {
  const isAsked = loglevel !== undefined || set.some((text) => text.startsWith('LOG_LEVEL='))
  return isAsked ? {} : { LOG_LEVEL: 'WARNING' }
}

/** Reads what the user typed as a URL: a file that exists, or a host without its scheme, is meant as such. */
export function typedUrl(text: string): string {
  if (/^[a-z][a-z\d+.-]*:/i.test(text) && !/^[^/]*:\d+(\/|$)/.test(text)) return text
  if (!existsSync(text) && /^[^/?#]+\.(html?|xml|json|txt)$/i.test(text))
    throw new UsageError(
      'WL_USAGE',
      `there is no file ${text}; for a site, write its whole URL: https://${text}/`,
    )
  return existsSync(text) ? pathToFileURL(resolve(text)).href : `http://${text}`
}

/** The page of a URL or of a local file. */
export function pageAt(workbench: Workbench, url: string, flags: PageFlags): Promise<Response> {
  const meta = {
    ...(flags.redirect === false && { dont_redirect: true }),
    ...(flags.browser && { browser: true }),
  }
  return pageOf(workbench, new Request(url, { dontFilter: true, meta }))
}

export async function pageOf(workbench: Workbench, request: Request): Promise<Response> {
  if (request.url.startsWith('file:'))
    return workbench.saved(request, { body: readFileSync(new URL(request.url)) })
  return workbench.fetch(request).catch((error) => {
    throw withWayOut(error, request)
  })
}

/** Where no server was reached it says what may be wrong, and the line that asks without Webloom. */
function withWayOut(error: unknown, { url }: Request): unknown {
  if (!(error instanceof DownloadError)) return error
  const { kind, message, reason } = error
  const { host, hostname } = new URL(url)
  const why: Partial<Record<DownloadError['kind'], string>> = {
    DownloadConnectionRefusedError: `Nothing listens there: the server of ${host} does not run, or has another port. See whether it answers others:  curl -sSI ${shellQuoted(url)}`,
    CannotResolveHostError: `Is the name right, and is there a network? See what others know of it:  nslookup ${shellQuoted(hostname)}`,
  }
  // A proxy's failure names the proxy, which is another place than the page's.
  if (why[kind] === undefined || error.via === 'proxy') return error
  return new DownloadError(kind, `${message}\n${why[kind]}`, { cause: error, ...(reason && { reason }) })
}
