import { WebloomError } from '@webloom/core'
import type { FormFields } from './urlencoded-form.ts'

/** A field's value, or all values of a field that occurs several times. Null: the field is not sent. */
export type FormValue = string | number | readonly (string | number)[] | null

/** Fields of a form by name, or as pairs, in order. */
export type FormDataInit = Readonly<Record<string, FormValue>> | Iterable<readonly [string, FormValue]>

/** Returns a pair for each value. Throws WL_REQUEST_INVALID for a value that is neither text nor a number. */
export function formFields(formdata: FormDataInit | undefined): FormFields {
  return pairsOf(formdata).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== null)
      .map((one) => [name, checkedValue(name, one)] as const),
  )
}

/** Returns every name in it, also of fields with null. */
export function formNames(formdata: FormDataInit | undefined): ReadonlySet<string> {
  return new Set(pairsOf(formdata).map(([name]) => name))
}

function pairsOf(formdata: FormDataInit = {}): (readonly [string, FormValue])[] {
  return Symbol.iterator in formdata ? [...formdata] : Object.entries(formdata)
}

function checkedValue(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new WebloomError(
    'WL_REQUEST_INVALID',
    `field ${JSON.stringify(name)} of formdata is ${JSON.stringify(value) ?? typeof value}; expected a string, a number, a list of them, or null`,
  )
}
