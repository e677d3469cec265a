/** What several verbs take. */

import { FAILURE_REASONS, type FailedFilter } from '@webloom/core'
import { moment, oneOf, type Schema } from './schema.ts'

/** The longest name that DNS has is 253 characters; a `meta.download_slot` may be longer. */
const HOST_CHARS_MAX = 512
const SIGNATURE_CHARS_MAX = 1024
const ID_CHARS_MAX = 256
const IDS_MAX = 500

export const HOST_NAME: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: HOST_CHARS_MAX,
  description: 'the host’s name, as quotes.toscrape.com; a port or the rest of a URL does not count',
}

export const SIGNATURE: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: SIGNATURE_CHARS_MAX,
  description: 'as the verb failures lists them',
}

export const FAILED_FILTER: { readonly [Name in keyof FailedFilter]-?: Schema } = {
  ids: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: ID_CHARS_MAX },
    maxItems: IDS_MAX,
  },
  signature: SIGNATURE,
  host: HOST_NAME,
  status: { type: 'integer', minimum: 100, maximum: 999, description: 'of the response' },
  reason: oneOf(FAILURE_REASONS),
  since: moment('given up at this moment or later'),
  until: moment('given up at this moment or sooner'),
}
