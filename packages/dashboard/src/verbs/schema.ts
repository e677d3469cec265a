/** The part of JSON Schema (2020-12) that says what verbs take and answer, for OpenAPI and MCP alike. */

export type TypeName = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

export interface Schema {
  readonly type?: TypeName | readonly TypeName[]
  readonly description?: string
  readonly enum?: readonly (string | boolean | null)[]
  readonly default?: number
  readonly format?: 'date-time'
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
}

export interface ObjectSchema extends Schema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
}

type OptionalKey<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K & string : never }[keyof T]

/**
 * An object with the fields of `T`: the compiler finds one that is left out, and one that there is not.
 *
 * @param optional those that may be absent
 */
export function object<T extends object>(
  properties: { readonly [K in keyof T & string]-?: Schema },
  optional: readonly OptionalKey<T>[] = [],
): ObjectSchema {
  const required = Object.keys(properties).filter((name) => !optional.some((one) => one === name))
  return { type: 'object', properties, required }
}

/** Describes what a verb takes: nothing else may stand beside it. */
export function input<T extends object>(
  properties: { readonly [K in keyof T & string]-?: Schema },
  optional: readonly OptionalKey<T>[] = [],
): ObjectSchema {
  return { ...object<T>(properties, optional), additionalProperties: false }
}

export function listOf(items: Schema, description?: string): Schema {
  return { type: 'array', items, ...(description !== undefined && { description }) }
}

/** An object that has any names. */
export function recordOf(values: Schema, description?: string): Schema {
  return { type: 'object', additionalProperties: values, ...(description !== undefined && { description }) }
}

/** The schema, or null. */
export function orNull(schema: Schema): Schema {
  const type = [schema.type ?? []].flat()
  return { ...schema, type: [...type, 'null'], ...(schema.enum && { enum: [...schema.enum, null] }) }
}

export function oneOf(names: readonly string[], description?: string): Schema {
  return { type: 'string', enum: names, ...(description !== undefined && { description }) }
}

export function text(description?: string): Schema {
  return { type: 'string', ...(description !== undefined && { description }) }
}

export function count(description?: string): Schema {
  return { type: 'integer', minimum: 0, ...(description !== undefined && { description }) }
}

export function number(description?: string): Schema {
  return { type: 'number', ...(description !== undefined && { description }) }
}

export function truth(description?: string): Schema {
  return { type: 'boolean', ...(description !== undefined && { description }) }
}

export function moment(description = 'in UTC, as ISO 8601 has it'): Schema {
  return { type: 'string', format: 'date-time', description }
}
