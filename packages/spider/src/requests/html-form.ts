/**
 * A form of a page and the values that it would send, by Scrapy's rules. They are nearly a browser's, but disabled fields
 * are sent, and files by their `value`.
 */

import { WebloomError } from '@webloom/core'
import type { Selector } from '@webloom/selectors'
import type { Response } from '../responses/response.ts'

/** Which form of a page. Of several options that are given, the first in this order that finds a form counts. */
export interface FormChoice {
  /** The form's `name`. */
  formname?: string | undefined
  /** The form's `id`. */
  formid?: string | undefined
  /** The form around (or at) the first match of this XPath. */
  formxpath?: string | undefined
  /** The form around (or at) the first match of this CSS query. */
  formcss?: string | undefined
  /** The form's place on the page, from 0. Default 0. */
  formnumber?: number | undefined
}

type Field = readonly [name: string, value: string]

/** Returns the form. Throws WL_FORM_NOT_FOUND. A name or id that no form has is ignored, as in Scrapy. */
export function findForm(response: Response, choice: FormChoice): Selector {
  const { formname, formid, formxpath, formcss, formnumber = 0 } = choice
  const forms = response.css('form')
  if (forms.length === 0) throw notFound(response, 'no form')
  const named = formname !== undefined && forms.find(({ attrib }) => attrib.name === formname)
  if (named) return named
  const identified = formid !== undefined && forms.find(({ attrib }) => attrib.id === formid)
  if (identified) return identified
  if (formcss !== undefined) return formAround(response.css(formcss)[0], response, formcss)
  if (formxpath !== undefined) return formAround(response.xpath(formxpath)[0], response, formxpath)
  const form = forms.at(formnumber)
  if (form) return form
  throw notFound(response, `${forms.length} forms, and none with formnumber ${formnumber}`)
}

function formAround(found: Selector | undefined, response: Response, query: string): Selector {
  const form = found?.xpath('ancestor-or-self::form').at(-1)
  if (form) return form
  throw notFound(response, `no form at what ${JSON.stringify(query)} finds`)
}

/**
 * Returns the values of the form as it came: each field with a name, in order; of boxes and radio buttons only checked
 * ones.
 */
export function filledFields(form: Selector): Field[] {
  return form.css('input, select, textarea').flatMap((field) => {
    const { name } = field.attrib
    return name ? valuesOf(field).map((value) => [oneLineEnd(name), oneLineEnd(value)] as const) : []
  })
}

/** Returns the text with the line ends that a page has after it was parsed. */
function oneLineEnd(text: string): string {
  return text.replace(/\r\n?/g, '\n')
}

function valuesOf(field: Selector): string[] {
  if (field.tag === 'textarea') return [field.css('::text').getall().join('')]
  return field.tag === 'select' ? chosenOptions(field) : inputValues(field)
}

function inputValues({ attrib: { type = 'text', value, checked } }: Selector): string[] {
  if (/^(?:submit|image|reset)$/i.test(type)) return []
  if (!/^(?:checkbox|radio)$/i.test(type)) return [value ?? '']
  return checked === undefined ? [] : [value || 'on']
}

/** Returns the last option that is selected, else the first that may be; with `multiple` all that are selected. */
function chosenOptions(select: Selector): string[] {
  const options = select.css('option')
  const selected = options.filter(({ attrib }) => attrib.selected !== undefined)
  if (select.attrib.multiple !== undefined) return selected.map(optionValue)
  const chosen = selected.at(-1) ?? options.find(({ attrib }) => attrib.disabled === undefined) ?? options[0]
  return chosen ? [optionValue(chosen)] : []
}

function optionValue(option: Selector): string {
  return option.attrib.value ?? option.css('option::text').get('').trim()
}

/** Returns the clicked button, if it has a name. Throws WL_FORM_NOT_FOUND when `clickdata` fits none, or several. */
export function clickedField(
  form: Selector,
  clickdata: Readonly<Record<string, string | number>> | undefined,
): Field | undefined {
  const buttons = form.css('input, button').filter(isSubmit)
  if (buttons.length === 0) return undefined
  const { name, value = '' } = (clickdata ? buttonOf(form, clickdata) : buttons[0]!).attrib
  return name === undefined ? undefined : [name, value]
}

function isSubmit({ tag, attrib: { type } }: Selector): boolean {
  if (tag === 'button') return type === undefined || /^submit$/i.test(type)
  return /^(?:submit|image)$/i.test(type ?? '')
}

function buttonOf(form: Selector, clickdata: Readonly<Record<string, string | number>>): Selector {
  const numbered = typeof clickdata.nr === 'number' && form.css('input, select, textarea').at(clickdata.nr)
  if (numbered) return numbered
  const wanted = Object.entries(clickdata)
  const [button, ...more] = form
    .css('*')
    .filter(({ attrib }) => wanted.every(([name, value]) => attrib[name] === String(value)))
  if (button && more.length === 0) return button
  throw new WebloomError(
    'WL_FORM_NOT_FOUND',
    `clickdata ${JSON.stringify(clickdata)} fits ${button ? `${more.length + 1} elements` : 'nothing'} in the form; expected one`,
  )
}

function notFound({ url }: Response, found: string): WebloomError {
  return new WebloomError(
    'WL_FORM_NOT_FOUND',
    `${url} has ${found}; see response.css('form') for what there is`,
  )
}
