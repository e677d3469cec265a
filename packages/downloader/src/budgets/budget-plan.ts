/** What a crawl may spend, and what happens when it has: the setting BUDGETS. */

import {
  BUDGET_KINDS,
  BUDGET_WINDOWS,
  type BudgetEnd,
  type BudgetPlan,
  type BudgetWindow,
  didYouMean,
  type Settings,
  SettingsError,
} from '@webloom/core'

/** What may be said of each; the first is what happens unless another is. */
const ENDS: Readonly<Record<BudgetWindow, readonly BudgetEnd[]>> = {
  crawl: ['stop'],
  day: ['wait', 'stop'],
  host: ['drop', 'stop'],
  hostDay: ['wait', 'drop', 'stop'],
}

const KEYS = [...BUDGET_WINDOWS, 'tz']
const EXAMPLE = '{"day": {"pages": 10000, "after": "wait"}, "host": {"pages": 500}, "tz": "Europe/Berlin"}'

/** Undefined where no budget is set. Throws `SettingsError` with all that is wrong. */
export function budgetPlanOf(settings: Settings): BudgetPlan | undefined {
  const written = settings.getDict('BUDGETS') as Readonly<Record<string, unknown>>
  if (Object.keys(written).length === 0) return undefined
  const problems: string[] = []
  const tz = timeZoneOf(written.tz, problems)
  for (const key of Object.keys(written))
    if (!KEYS.includes(key))
      problems.push(
        `BUDGETS has ${JSON.stringify(key)}.${didYouMean(key, KEYS) || ` There are ${KEYS.join(', ')}.`}`,
      )
  const limits: Partial<Record<BudgetWindow, Record<string, number>>> = {}
  const after: Record<BudgetWindow, BudgetEnd> = { crawl: 'stop', day: 'wait', host: 'drop', hostDay: 'wait' }
  for (const window of BUDGET_WINDOWS) {
    const budget = written[window]
    if (budget === undefined || budget === null) continue
    const limit = limitOf(window, budget, problems)
    if (Object.keys(limit).length > 0) limits[window] = limit
    after[window] = endOf(window, budget, problems)
  }
  if (problems.length > 0)
    throw new SettingsError(problems.map((problem) => `${problem} For example BUDGETS=${EXAMPLE}`))
  return Object.keys(limits).length === 0 ? undefined : { limits, after, tz }
}

function limitOf(window: BudgetWindow, budget: unknown, problems: string[]): Record<string, number> {
  if (typeof budget !== 'object' || budget === null || Array.isArray(budget)) {
    problems.push(`BUDGETS.${window} is ${JSON.stringify(budget)}; expected an object.`)
    return {}
  }
  const limit: Record<string, number> = {}
  const names = [...BUDGET_KINDS, 'after'] as readonly string[]
  for (const [name, value] of Object.entries(budget)) {
    if (name === 'after') continue
    if (!names.includes(name))
      problems.push(
        `BUDGETS.${window} has ${JSON.stringify(name)}.${didYouMean(name, names) || ` There are ${names.join(', ')}.`}`,
      )
    else if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1)
      problems.push(
        `BUDGETS.${window}.${name} is ${JSON.stringify(value)}; expected a whole number from 1 on.`,
      )
    else limit[name] = value
  }
  if (!BUDGET_KINDS.some((kind) => Object.hasOwn(budget, kind)))
    problems.push(`BUDGETS.${window} has no limit. There are ${BUDGET_KINDS.join(', ')}.`)
  return limit
}

function endOf(window: BudgetWindow, budget: unknown, problems: string[]): BudgetEnd {
  const { after } = (budget ?? {}) as { readonly after?: unknown }
  const ends = ENDS[window]
  if (after === undefined) return ends[0]!
  const end = ends.find((one) => one === after)
  if (end) return end
  problems.push(`BUDGETS.${window}.after is ${JSON.stringify(after)}; expected ${ends.join(' or ')}.`)
  return ends[0]!
}

function timeZoneOf(tz: unknown, problems: string[]): string {
  if (tz === undefined) return 'UTC'
  try {
    new Intl.DateTimeFormat('en', { timeZone: String(tz) })
    return String(tz)
  } catch {
    problems.push(
      `BUDGETS.tz is ${JSON.stringify(tz)}; expected a time zone.${didYouMean(String(tz), Intl.supportedValuesOf('timeZone'))}`,
    )
    return 'UTC'
  }
}
