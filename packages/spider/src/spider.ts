import {
  type Crawler,
  didYouMean,
  isSettingName,
  type JsonObject,
  type Logger,
  Request,
  type Settings,
  type SettingsInput,
  WebloomError,
} from '@webloom/core'
import { editDistance } from '@webloom/url'
import type { Monitors } from './monitor-rules.ts'
import type { Response } from './responses/response.ts'

/** What a spider gets when its crawl opens. */
interface SpiderSurroundings {
  readonly crawler: Crawler
  readonly logger: Logger
}

/** A placeholder in a URL that was never filled in: `{page}`, `${page}`. */
const PLACEHOLDER = /\$?\{[A-Za-z_]\w*\}/

// Set while `createSpider` runs a constructor, as a subclass may have a constructor that passes no arguments on.
let argsUnderConstruction: Readonly<Record<string, string>> | undefined

/**
 * Marks the spider classes of this package, in any copy of it: a project may have its own copy beside the one whose command
 * runs.
 */
export const FRAMEWORK_CLASS: unique symbol = Symbol.for('webloom.spider.framework')

/** Returns whether an object is the prototype of a class of this framework. */
export function isFrameworkClass(prototype: object): boolean {
  const Class = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value as unknown
  return typeof Class === 'function' && Object.hasOwn(Class, FRAMEWORK_CLASS)
}

/**
 * Says where a crawl starts, what to take from a page, and where to go on. Write a subclass with `name`, `startUrls` or
 * `start()`, and `parse`.
 */
export class Spider {
  /** @internal Methods that this class defines are not a user's. */
  static readonly [FRAMEWORK_CLASS]: true = true
  /**
   * What each run of this spider is expected to bring; whoever runs it is told when it does not (docs/guides/monitors.md). With this type
   * `tsc` finds a misspelt key (otherwise only the crawl does):
   *
   *     static override monitors: Monitors = { items: { min: 100 }, coverage: { price: 0.95 } }
   */
  static monitors?: Monitors
  /** The spider's name on the command line, in keys and in logs. Required. */
  name = ''
  /** The URLs that `start()` requests, unless it is overridden. */
  startUrls: string[] = []
  /** Hosts that the crawl stays on, with their subdomains. Empty: any host. */
  allowedDomains: string[] = []
  /**
   * Settings of this spider. They override the config file's; environment and command line override them.
   *
   * With this type the editor knows each name, and `tsc` finds a misspelt one (otherwise only the crawl does):
   *
   *     override customSettings: SettingsInput = { DOWNLOAD_DELAY: 1 }
   */
  customSettings?: SettingsInput
  /** Statuses other than 2xx that callbacks want to get. */
  handleHttpstatusList?: number[]
  /** The arguments `-a name=value` by name. Set before the first field of a subclass. */
  readonly args: Readonly<Record<string, string>>
  #surroundings: SpiderSurroundings | undefined

  constructor(args: Readonly<Record<string, string>> = argsUnderConstruction ?? {}) {
    this.args = args
  }

  /** The crawl's settings. Before `start()` this throws WL_SPIDER_NOT_READY. */
  get settings(): Settings {
    return this.#ready('settings').crawler.settings
  }

  /** The running crawl: stats, signals, and `close(reason)`. Set from `start()` on. */
  get crawler(): Crawler {
    return this.#ready('crawler').crawler
  }

  /** Writes log lines that carry the spider's name. Set from `start()` on. */
  get logger(): Logger {
    return this.#ready('logger').logger
  }

  /**
   * Yields the first requests (items are allowed, too). It is read on as the crawl has room, so it may yield millions. A
   * start URL that cannot be requested is logged and counted as `start/invalid_url_count`; the others go on.
   */
  start(): AsyncIterable<unknown> | Iterable<unknown> {
    return this.#startRequests()
  }

  /** The callback of requests that name none. */
  parse(_response: Response, _cbKwargs: JsonObject): unknown {
    throw new WebloomError(
      'WL_CALLBACK_UNKNOWN',
      `${this.constructor.name} has no parse method; write one, or give each request a callback`,
    )
  }

  /** Called when the crawl is over. */
  closed?(reason: string): unknown

  /**
   * With RECRAWL: returns what of a page counts when it is compared with the visit before, such as its price. Default: all that the page
   * says to its readers, without navigation, tokens and times. undefined and null stand for that, too.
   */
  recrawlContent?(response: Response): unknown

  /** With RECRAWL: called when a page that was visited before has answered twice in a row that it is gone (404, 410). Awaited. */
  gone?(url: string): unknown

  *#startRequests(): Generator<Request> {
    const { logger, stats } = this.crawler
    let refused = 0
    let isWarned = false
    for (const [index, url] of this.startUrls.entries()) {
      const placeholder = isWarned ? undefined : PLACEHOLDER.exec(String(url))
      if (placeholder) {
        isWarned = true
        logger.warn(
          `startUrls[${index}] is ${JSON.stringify(url)}: ${placeholder[0]} is sent as it is written. If it was to be filled in: only \`\${…}\` between backticks is`,
        )
      }
      try {
        yield new Request(url, { dontFilter: true })
      } catch (error) {
        refused++
        stats.inc('start/invalid_url_count')
        logger.error(`startUrls[${index}] is left out: ${(error as Error).message}`)
      }
    }
    if (refused > 0 && refused === this.startUrls.length) {
      throw new WebloomError(
        'WL_URL_INVALID',
        `none of the ${refused} startUrls of ${this.name} can be requested`,
      )
    }
  }

  #ready(what: string): SpiderSurroundings {
    if (this.#surroundings) return this.#surroundings
    throw new WebloomError(
      'WL_SPIDER_NOT_READY',
      `this.${what} is not there yet: it exists from start() on. In a field or constructor use this.args`,
    )
  }

  /** @internal Makes `settings`, `crawler` and `logger` readable. Called by the assembly of a crawl. */
  static attach(spider: Spider, surroundings: SpiderSurroundings): void {
    spider.#surroundings = surroundings
  }
}

/** A subclass of `Spider`. */
export type SpiderClass = new (args?: Readonly<Record<string, string>>) => Spider

/** Makes a spider with its arguments. They are set before its fields are, and then assigned to the fields of the same names. */
export function createSpider(Class: SpiderClass, args: Readonly<Record<string, string>> = {}): Spider {
  argsUnderConstruction = args
  let spider: Spider
  try {
    spider = new Class(args)
  } finally {
    argsUnderConstruction = undefined
  }
  if (typeof spider.name !== 'string' || spider.name === '') {
    throw new WebloomError(
      'WL_SPIDER_LOAD',
      isNameStatic(Class)
        ? `the name ${JSON.stringify(Class.name)} is static; write it as a field:  name = ${JSON.stringify(Class.name)}`
        : `${Class.name || 'the spider class'} has no name; add the field  name = 'my-spider'`,
    )
  }
  assignArguments(spider, args)
  checkFields(spider)
  checkStatics(spider)
  return spider
}

/** Returns whether `name` is a static field of the class. The name of a class itself cannot be assigned. */
function isNameStatic(Class: SpiderClass): boolean {
  return Object.getOwnPropertyDescriptor(Class, 'name')?.writable === true
}

/** Names that are nearly right, and would be ignored silently. */
const MEANT: Readonly<Record<string, string>> = {
  start_urls: 'startUrls',
  start_requests: 'start',
  startRequests: 'start',
  allowed_domains: 'allowedDomains',
  custom_settings: 'customSettings',
  handle_httpstatus_list: 'handleHttpstatusList',
  http_user: 'httpUser',
  http_pass: 'httpPass',
  http_auth_domain: 'httpAuthDomain',
  handleHttpStatusList: 'handleHttpstatusList',
  redis_key: 'redisKey',
  redis_batch_size: 'redisBatchSize',
  max_idle_time: 'maxIdleTime',
  make_request_from_data: 'makeRequestFromData',
  parse_start_url: 'parseStartUrl',
  process_results: 'processResults',
  sitemap_urls: 'sitemapUrls',
  sitemap_rules: 'sitemapRules',
  sitemap_follow: 'sitemapFollow',
  sitemap_filter: 'sitemapFilter',
  sitemap_alternate_links: 'sitemapAlternateLinks',
  parse_node: 'parseNode',
  parse_row: 'parseRow',
  adapt_response: 'adaptResponse',
  startUrl: 'startUrls',
  start_url: 'startUrls',
  startURLs: 'startUrls',
  allowedDomain: 'allowedDomains',
  allowed_domain: 'allowedDomains',
  customSetting: 'customSettings',
  user_agent: 'userAgent',
  download_delay: 'customSettings = { DOWNLOAD_DELAY: … }',
  downloadDelay: 'customSettings = { DOWNLOAD_DELAY: … }',
  download_timeout: 'customSettings = { DOWNLOAD_TIMEOUT: … }',
  max_concurrent_requests: 'customSettings = { CONCURRENT_REQUESTS: … }',
}

/** So many letters of customSettings may be wrong, missing or too many: an author's own field is called otherwise. */
const SLIPS_MAX = 2

/** Fields that each spider has for itself, but that a class may have by mistake. */
const FIELDS = ['startUrls', 'allowedDomains', 'customSettings', 'handleHttpstatusList', 'rules', 'redisKey']

/** Throws for a field on the class instead of its spiders. Nothing reads it, unless the spider's own field takes its value. */
function checkStatics(spider: Spider): void {
  const Class = spider.constructor
  for (const written of [...FIELDS, ...Object.keys(MEANT)]) {
    const meant = MEANT[written] ?? written
    const own: unknown = fieldOf(spider, meant)
    const isTaken = Array.isArray(own) ? own.length > 0 : own !== undefined
    if (!Object.hasOwn(Class, written) || isTaken) continue
    throw new WebloomError(
      'WL_SPIDER_LOAD',
      `${written} of ${Class.name} is static; here it is a field of the spider: write  ${meant}${meant.includes('=') ? '' : ' = …'}  without the word static`,
    )
  }
}

function checkFields(spider: Spider): void {
  for (const [written, meant] of Object.entries(MEANT)) {
    if (written in spider)
      throw new WebloomError(
        'WL_SPIDER_LOAD',
        `spider ${spider.name} has ${written}; here it is called ${meant}`,
      )
  }
  for (const written of Object.keys(spider)) {
    const slips = editDistance(written.toLowerCase(), 'customsettings')
    if (slips > SLIPS_MAX || fieldOf(spider, written) === spider.customSettings) continue
    const setting = settingIn(fieldOf(spider, written))
    if (setting)
      throw new WebloomError(
        'WL_SPIDER_LOAD',
        `spider ${spider.name} has ${written} = { ${setting}: … }, and nothing reads that field. Did you mean customSettings? If it is a field of your own, give it another name`,
      )
  }
  for (const name of ['startUrls', 'allowedDomains'] as const) {
    const value: unknown = spider[name]
    if (Array.isArray(value) && value.every((one) => typeof one === 'string' || one instanceof URL)) continue
    throw new WebloomError(
      'WL_SPIDER_LOAD',
      `${name} of spider ${spider.name} is ${JSON.stringify(value)}; expected a list of strings`,
    )
  }
}

/** Returns the name of a setting that is a key of the object; undefined when there is none. */
function settingIn(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? Object.keys(value).find(isSettingName) : undefined
}

// Set by the framework: an argument of that name would break the spider.
const RESERVED: readonly string[] = ['args', 'customSettings', 'handleHttpstatusList']

function assignArguments(spider: Spider, args: Readonly<Record<string, string>>): void {
  const fields = Object.keys(spider).filter(
    (name) => !RESERVED.includes(name) && typeof fieldOf(spider, name) !== 'function',
  )
  for (const [name, text] of Object.entries(args)) {
    if (!fields.includes(name)) {
      throw new WebloomError(
        'WL_SPIDER_ARGUMENT',
        `spider ${spider.name} has no field ${JSON.stringify(name)} for -a ${name}=${text}.${didYouMean(name, fields)} Its fields are ${fields.join(', ')}; add  ${/^[\w$]+$/.test(name) ? name : 'myName'}?: string  to the class to accept it`,
      )
    }
    Reflect.set(spider, name, asTyped(text, fieldOf(spider, name), `-a ${name}=${text}`))
  }
}

function fieldOf(spider: Spider, name: string): unknown {
  return Reflect.get(spider, name)
}

/** Returns the argument in the type of the field's value: a number, true or false, a list, else the text itself. */
function asTyped(text: string, present: unknown, where: string): unknown {
  if (typeof present === 'number') {
    const number = Number(text)
    if (text.trim() !== '' && !Number.isNaN(number)) return number
    throw new WebloomError(
      'WL_SPIDER_ARGUMENT',
      `${where}: the field holds a number; ${JSON.stringify(text)} is not a number`,
    )
  }
  if (typeof present === 'boolean') {
    if (/^(true|1|yes|on)$/i.test(text)) return true
    if (/^(false|0|no|off|)$/i.test(text)) return false
    throw new WebloomError(
      'WL_SPIDER_ARGUMENT',
      `${where}: the field holds true or false; ${JSON.stringify(text)} is neither`,
    )
  }
  if (Array.isArray(present)) return text === '' ? [] : text.split(',').map((entry) => entry.trim())
  return text
}
