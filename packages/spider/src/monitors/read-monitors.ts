/** Which monitors a crawl has: those of its spider and of its settings, each looked at before anything is fetched. */

import {
  didYouMean,
  type MonitorName,
  type SettingName,
  type Settings,
  SettingsError,
  valueShown,
} from '@webloom/core'
import type { Monitors } from '../monitor-rules.ts'

/** What is wrong with a value; undefined when it is right. */
type Check = (value: unknown) => string | undefined

const count: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 0 ? undefined : 'expected a whole number, 0 or more'
const share: Check = (value) =>
  typeof value === 'number' && value >= 0 && value <= 1
    ? undefined
    : 'expected a share between 0 and 1, as 0.95'
const minutes: Check = (value) =>
  typeof value === 'number' && value > 0 && Number.isFinite(value)
    ? undefined
    : 'expected minutes, more than 0'
const texts: Check = (value) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')
    ? undefined
    : 'expected a list of texts'
const callable: Check = (value) =>
  typeof value === 'function' ? undefined : 'expected a function (run, past) that returns what is wrong'

type Rules = { readonly [key: string]: Check | Rules }

const ITEMS: Rules = { min: count, drop: share, everyMinutes: minutes }
const STATUS: Rules = { max: count, share }
const CHECKS: Readonly<Record<MonitorName, Check | Rules>> = {
  items: ITEMS,
  coverage: (value: unknown) => eachOf(value, share),
  coverageDrop: share,
  statuses: (value: unknown) =>
    noStatus(value) ??
    eachOf(value, (one) => (typeof one === 'number' ? count(one) : problemsOf(one, STATUS, '')[0])),
  errors: count,
  warnings: count,
  criticals: count,
  exceptions: count,
  retries: count,
  requests: count,
  invalidItems: count,
  successes: count,
  finishReasons: texts,
  maxMinutes: minutes,
  custom: callable,
} satisfies Record<keyof Required<Monitors>, unknown>

/** The monitors of a spider and its settings; undefined: there are none. Throws `SettingsError` with every problem. */
export function readMonitors(spider: object, settings: Settings): Monitors | undefined {
  if (!settings.getBool('SPIDERMON_ENABLED')) return undefined
  const own: unknown = (spider.constructor as { readonly monitors?: unknown }).monitors
  const set = settings.getDict('MONITORS')
  const [ofProject, ofCall] = [byName(settings, false), byName(settings, true)]
  const problems = [
    ...inOtherPlaces(spider),
    ...(own === undefined ? [] : problemsOf(own, CHECKS, `static monitors of ${spider.constructor.name}`)),
    ...problemsOf(set, CHECKS, 'MONITORS'),
    ...problemsOf(merged(ofProject, ofCall), CHECKS, 'SPIDERMON_…'),
  ]
  if (problems.length > 0) throw new SettingsError(problems)
  const isSetNow = isOfThisCall(settings, 'MONITORS')
  const all = [
    ofProject,
    isSetNow ? {} : set,
    (own ?? {}) as Monitors,
    ofCall,
    (isSetNow ? set : {}) as Monitors,
  ].reduce(merged, {})
  return Object.keys(all).length === 0 ? undefined : all
}

/** Monitors that nobody would read: `static` is forgotten, or the name is `monitor`. What means something else is left alone. */
function inOtherPlaces(spider: object): string[] {
  const Class = spider.constructor as unknown as Readonly<Record<string, unknown>> & { readonly name: string }
  const fields = spider as Readonly<Record<string, unknown>>
  const places = [
    ['monitors', fields.monitors],
    ['monitor', fields.monitor],
    ['static monitor', Class.monitor],
  ] as const
  return places
    .filter(([, value]) => looksLikeMonitors(value))
    .map(
      ([place]) =>
        `${place} of ${Class.name} is read by nobody, so nothing would be judged; write: static override monitors: Monitors = { … }`,
    )
}

function looksLikeMonitors(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const names = Object.keys(CHECKS)
  return Object.keys(value).some((key) => names.includes(key) || didYouMean(key, names) !== '')
}

/** Key by key; `items` has keys of its own. */
function merged(one: Monitors, other: Monitors): Monitors {
  const items = { ...one.items, ...other.items }
  return { ...one, ...other, ...(Object.keys(items).length > 0 && { items }) }
}

/** Said by whoever starts the crawl, in the environment or on the command line: it comes before what is written in files. */
function isOfThisCall(settings: Settings, name: SettingName): boolean {
  return ['environment', 'command'].includes(settings.source(name) ?? '')
}

/** Those that settings with spidermon's names ask for: of this call, or of files. */
function byName(settings: Settings, isAskedNow: boolean): Monitors {
  const isMeant = (name: SettingName) => isOfThisCall(settings, name) === isAskedNow
  const most = (name: SettingName, value: number | null) => (isMeant(name) ? bound(value) : undefined)
  const min = most('SPIDERMON_MIN_ITEMS', settings.get('SPIDERMON_MIN_ITEMS'))
  const kept = most(
    'SPIDERMON_JOBS_COMPARISON_THRESHOLD',
    settings.get('SPIDERMON_JOBS_COMPARISON_THRESHOLD'),
  )
  const items = { ...(min !== undefined && { min }), ...(kept !== undefined && { drop: 1 - kept }) }
  const reasons = isMeant('SPIDERMON_EXPECTED_FINISH_REASONS')
    ? settings.getList('SPIDERMON_EXPECTED_FINISH_REASONS').map(String)
    : []
  const seconds = most('SPIDERMON_MAX_EXECUTION_TIME', settings.get('SPIDERMON_MAX_EXECUTION_TIME'))
  const given = {
    items: some(items),
    errors: most('SPIDERMON_MAX_ERRORS', settings.get('SPIDERMON_MAX_ERRORS')),
    warnings: most('SPIDERMON_MAX_WARNINGS', settings.get('SPIDERMON_MAX_WARNINGS')),
    criticals: most('SPIDERMON_MAX_CRITICALS', settings.get('SPIDERMON_MAX_CRITICALS')),
    exceptions: most(
      'SPIDERMON_MAX_DOWNLOADER_EXCEPTIONS',
      settings.get('SPIDERMON_MAX_DOWNLOADER_EXCEPTIONS'),
    ),
    retries: most('SPIDERMON_MAX_RETRIES', settings.get('SPIDERMON_MAX_RETRIES')),
    successes: most('SPIDERMON_MIN_SUCCESSFUL_REQUESTS', settings.get('SPIDERMON_MIN_SUCCESSFUL_REQUESTS')),
    requests: most('SPIDERMON_MAX_REQUESTS_ALLOWED', settings.get('SPIDERMON_MAX_REQUESTS_ALLOWED')),
    invalidItems: most(
      'SPIDERMON_MAX_ITEM_VALIDATION_ERRORS',
      settings.get('SPIDERMON_MAX_ITEM_VALIDATION_ERRORS'),
    ),
    finishReasons: reasons.length > 0 ? reasons : undefined,
    maxMinutes: seconds === undefined ? undefined : seconds / 60,
    statuses: isMeant('SPIDERMON_UNWANTED_HTTP_CODES') ? some(statusesOf(settings)) : undefined,
    coverage: isMeant('SPIDERMON_FIELD_COVERAGE_RULES') ? some(coverageOf(settings)) : undefined,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Monitors
}

/** -1 is spidermon's word for no bound. */
function bound(value: number | null): number | undefined {
  return value === null || value < 0 ? undefined : value
}

function statusesOf(settings: Settings): Record<string, unknown> {
  const given = settings.get('SPIDERMON_UNWANTED_HTTP_CODES')
  const max = settings.getInt('SPIDERMON_UNWANTED_HTTP_CODES_MAX_COUNT')
  if (Array.isArray(given)) return Object.fromEntries(given.map((status) => [String(status), max]))
  return Object.fromEntries(
    Object.entries(given).map(([status, most]) => {
      if (typeof most !== 'object' || most === null) return [status, most]
      const { max_count: count, max_percentage: part } = most as Record<string, unknown>
      return [
        status,
        { ...(count !== undefined && { max: count }), ...(part !== undefined && { share: part }) },
      ]
    }),
  )
}

/** `dict/author/name` is spidermon's way to write `author.name`: the class of the item stands first. */
function coverageOf(settings: Settings): Record<string, unknown> {
  const rules = Object.entries(settings.getDict('SPIDERMON_FIELD_COVERAGE_RULES'))
  return Object.fromEntries(
    rules.map(([path, least]) => [
      path
        .split('/')
        .slice(path.includes('/') ? 1 : 0)
        .join('.'),
      least,
    ]),
  )
}

function some<T extends object>(given: T): T | undefined {
  return Object.keys(given).length > 0 ? given : undefined
}

function problemsOf(given: unknown, rules: Rules, place: string): string[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return [
      `${place} is ${valueShown(given)}; expected an object with some of ${Object.keys(rules).join(', ')}`,
    ]
  return Object.entries(given).flatMap(([key, value]) => {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    if (rule === undefined) return [unknownKey(key, rules, place)]
    if (value === undefined) return []
    const where = `${place}${place === '' ? '' : '.'}${key}`
    if (typeof rule !== 'function') return problemsOf(value, rule, where)
    const problem = rule(value)
    return problem === undefined ? [] : [`${where} is ${valueShown(value)}; ${problem}`]
  })
}

function unknownKey(key: string, rules: Rules, place: string): string {
  const names = Object.keys(rules)
  return `${place} has no ${JSON.stringify(key)}.${didYouMean(key, names) || ` There are ${names.join(', ')}`}`
}

/** What is written for a status and is none would be met by no response. */
function noStatus(given: unknown): string | undefined {
  const wrong = Object.keys(given ?? {}).find((key) => !/^(?:[1-9]\d\d|[1-5]xx)$/.test(key))
  return wrong === undefined
    ? undefined
    : `${JSON.stringify(wrong)} is no status: expected one, as 403, or a class of them, as 4xx`
}

/** The first problem of an object's values. */
function eachOf(given: unknown, check: Check): string | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return 'expected an object'
  for (const [name, value] of Object.entries(given)) {
    const problem = check(value)
    if (problem !== undefined) return `${JSON.stringify(name)} is ${valueShown(value)}: ${problem}`
  }
  return undefined
}
