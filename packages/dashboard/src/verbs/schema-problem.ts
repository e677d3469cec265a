/** Whether a value is as a schema says. */

import type { Schema, TypeName } from './schema.ts'

export interface SchemaProblem {
  /** `delayMs`, `ids[3]`; empty: the whole. */
  readonly where: string
  /** What is there, and what was expected. */
  readonly what: string
}

const SHOWN_CHARS_MAX = 80
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

/** Returns the first thing that is wrong; undefined: nothing is. */
export function schemaProblem(schema: Schema, value: unknown, where = ''): SchemaProblem | undefined {
  const wrong = (expected: string): SchemaProblem => ({
    where,
    what: `is ${shownValue(value)}; expected ${expected}`,
  })
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type) => isOf(type, value)))
    return wrong(types.map(typeShown).join(' or '))
  if (value === null) return undefined
  if (schema.enum && !schema.enum.some((one) => one === value))
    return wrong(`one of ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`)
  if (typeof value === 'string') return textProblem(schema, value, wrong)
  if (typeof value === 'number') return numberProblem(schema, value, wrong)
  if (Array.isArray(value)) return listProblem(schema, value, where, wrong)
  if (typeof value === 'object')
    return objectProblem(schema, value as Readonly<Record<string, unknown>>, where)
  return undefined
}

type Wrong = (expected: string) => SchemaProblem

function textProblem({ minLength = 0, maxLength = Infinity, format }: Schema, value: string, wrong: Wrong) {
  if (value.length < minLength) return wrong(`at least ${minLength} character${minLength === 1 ? '' : 's'}`)
  if (value.length > maxLength) return wrong(`at most ${maxLength} characters, and these are ${value.length}`)
  const isMoment = format !== 'date-time' || (MOMENT.test(value) && !Number.isNaN(Date.parse(value)))
  return isMoment ? undefined : wrong('a moment, as "2026-11-25T16:00:00Z"')
}

function numberProblem({ minimum = -Infinity, maximum = Infinity }: Schema, value: number, wrong: Wrong) {
  if (value < minimum) return wrong(`${minimum} or more`)
  return value > maximum ? wrong(`${maximum} or less`) : undefined
}

function listProblem(schema: Schema, value: readonly unknown[], where: string, wrong: Wrong) {
  const { items = {}, maxItems = Infinity } = schema
  if (value.length > maxItems) return wrong(`at most ${maxItems} entries, and these are ${value.length}`)
  return firstOf(value, (one, n) => schemaProblem(items, one, `${where}[${n}]`))
}

function objectProblem(schema: Schema, value: Readonly<Record<string, unknown>>, where: string) {
  const { properties = {}, required = [], additionalProperties: others = true } = schema
  const at = (name: string) => (where === '' ? shownName(name) : `${where}.${shownName(name)}`)
  const missing = required.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) return { where: at(missing), what: 'is missing' }
  return firstOf(Object.entries(value), ([name, one]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (known) return schemaProblem(known, one, at(name))
    if (others === false) return { where: at(name), what: `is not known; known: ${namesOf(properties)}` }
    return others === true ? undefined : schemaProblem(others, one, at(name))
  })
}

function firstOf<T>(all: readonly T[], problemOf: (one: T, n: number) => SchemaProblem | undefined) {
  for (const [n, one] of all.entries()) {
    const problem = problemOf(one, n)
    if (problem) return problem
  }
  return undefined
}

function namesOf(properties: object): string {
  return Object.keys(properties).join(', ') || 'none'
}

function isOf(type: TypeName, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  if (type === 'integer') return Number.isSafeInteger(value)
  return type === 'number' ? Number.isFinite(value) : typeof value === type
}

const TYPES_SHOWN: Readonly<Record<TypeName, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
}

function typeShown(type: TypeName): string {
  return TYPES_SHOWN[type]
}

function shownName(name: string): string {
  return /^\w{1,40}$/.test(name) ? name : shownValue(name)
}

/** What somebody sent may be long. */
function shownValue(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > SHOWN_CHARS_MAX ? `${json.slice(0, SHOWN_CHARS_MAX)}…` : json
}
