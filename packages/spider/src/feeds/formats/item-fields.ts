/** Which fields of an item are written, and under which names. */

/** The field of the item → its name in the output, in the order of the output. */
export type FieldNames = ReadonlyMap<string, string>

/** Returns the item as an object of fields; undefined when it is none. An instance may say by `toJSON` what it is. */
export function recordOf(item: unknown): Readonly<Record<string, unknown>> | undefined {
  const plain = hasToJson(item) ? item.toJSON() : item
  const isRecord = typeof plain === 'object' && plain !== null && !Array.isArray(plain)
  return isRecord ? (plain as Record<string, unknown>) : undefined
}

/** Returns the chosen fields that the item has, under their names in the output. */
export function chosenFields(item: unknown, fields: FieldNames): unknown {
  const record = recordOf(item)
  if (record === undefined) return item
  const chosen: [string, unknown][] = []
  for (const [field, name] of fields) if (Object.hasOwn(record, field)) chosen.push([name, record[field]])
  return Object.fromEntries(chosen)
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return (
    typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'
  )
}
