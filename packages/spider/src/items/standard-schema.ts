/**
 * The interface that zod, valibot, arktype and others share (https://standardschema.dev), as far as it is used here. It is
 * meant to be copied, so that a few types need no dependency.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The interface's only property; libraries use this name so that it collides with none of theirs. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** The result of `validate`: the value as the schema makes it, or everything that is wrong with it. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** One thing that is wrong with a value, and where. */
export interface SchemaIssue {
  /** What is wrong, in words. */
  readonly message: string
  /** The keys from the value down to the wrong part. Absent: the value itself is wrong. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The type that the schema accepts. */
export type SchemaInput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input']

/** The type that the schema makes: with defaults filled in and values converted. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output']
