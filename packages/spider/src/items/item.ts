import { DropItem, isPromise, WebloomError } from '@webloom/core'
import type { SchemaIssue, SchemaOutput, SchemaResult, StandardSchema } from './standard-schema.ts'

/**
 * An item that its schema refuses. Yield it like any item: it is dropped, logged with the paths that are wrong, and counted
 * as `item_dropped_reasons_count/InvalidItem`. The callback goes on.
 */
export class InvalidItem extends DropItem {
  /** The value that does not fit the schema. */
  readonly value: unknown
  /** What the schema finds wrong, each with its path. */
  readonly issues: readonly SchemaIssue[]

  constructor(value: unknown, issues: readonly SchemaIssue[]) {
    super(issuesShown(issues))
    this.value = value
    this.issues = issues
  }
}

/** The result of `item()`, to be yielded. */
export type CheckedItem<Item> = Item | InvalidItem | Promise<Item | InvalidItem>

/**
 * Returns the value as the schema makes it, with defaults and conversions, or an `InvalidItem`; a promise of either for a
 * schema that validates asynchronously. Each of these may be yielded as it is: `yield item(Quote, { text, author })`. To
 * read the item first, await it and check whether it is an `InvalidItem`.
 *
 * @param schema of any library with the Standard Schema interface: zod, valibot, arktype and others
 * @throws WL_USAGE when `schema` is none
 */
export function item<Schema extends StandardSchema>(
  schema: Schema,
  value: unknown,
): CheckedItem<SchemaOutput<Schema>> {
  const validate = schema?.['~standard']?.validate
  if (typeof validate !== 'function')
    throw new WebloomError(
      'WL_USAGE',
      'item(schema, value) was called without a schema; expected one of zod, valibot, arktype or another library with the Standard Schema interface',
    )
  const result = validate(value)
  return isPromise(result) ? result.then((settled) => checked(value, settled)) : checked(value, result)
}

function checked<Item>(value: unknown, result: SchemaResult<Item>): Item | InvalidItem {
  return result.issues ? new InvalidItem(value, result.issues) : result.value
}

// More would hide the line in the log.
const ISSUES_SHOWN = 5

function issuesShown(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, ISSUES_SHOWN).map(({ message, path = [] }) => {
    const where = path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
    return where === '' ? message : `${where}: ${message}`
  })
  const rest = issues.length - shown.length
  return rest > 0 ? `${shown.join('; ')}; and ${rest} more` : shown.join('; ')
}
