/**
 * What zod, valibot, arktype and others have in common (https://standardschema.dev), as far as it is needed here: the
 * interface is made to be copied, so that nobody depends on a package for a few types.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The whole of the interface; libraries keep it under this name so that it meets none of theirs. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** What `validate` answers: the value as the schema makes it, or everything that is wrong with it. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** One thing that is wrong with a value, and where. */
export interface SchemaIssue {
  /** In words, for people. */
  readonly message: string
  /** Keys from the value down to what is wrong; absent: the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What the schema takes. */
export type SchemaInput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input']

/** What the schema makes of it: with defaults filled in and values converted. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output']
