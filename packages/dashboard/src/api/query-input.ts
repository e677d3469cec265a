import type { ObjectSchema, Schema } from '../verbs/schema.ts'

/**
 * Returns what stands in an address as values of the schema's types. What cannot be one stays text, so that whoever checks it shows what
 * was sent.
 */
export function queryInput(
  { properties }: ObjectSchema,
  query: Readonly<Record<string, readonly string[]>>,
): Record<string, unknown> {
  const values = Object.entries(query).map(([name, texts]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    return [name, schema ? typedValue(schema, texts) : texts[0]]
  })
  return Object.fromEntries(values)
}

function typedValue(schema: Schema, texts: readonly string[]): unknown {
  const types = [schema.type ?? []].flat()
  if (types.includes('array')) return texts
  // Given twice, it is a list, which nothing else takes.
  if (texts.length > 1) return texts
  const [text = ''] = texts
  if (types.includes('integer') && /^-?\d+$/.test(text)) return Number(text)
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  return text
}
