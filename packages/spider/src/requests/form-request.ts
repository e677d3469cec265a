import {
  checkOptions,
  Headers,
  type OptionNames,
  REQUEST_OPTIONS,
  Request,
  type RequestInit,
  urlEncodingOf,
} from '@webloom/core'
import { stripHtmlSpace } from '@webloom/url'
import type { Response } from '../responses/response.ts'
import { type FormDataInit, formFields, formNames } from './form-data.ts'
import { clickedField, type FormChoice, filledFields, findForm } from './html-form.ts'
import { type FormFields, urlencodedForm, withQuery } from './urlencoded-form.ts'

/** The options of a `FormRequest`. */
export interface FormRequestInit extends RequestInit {
  /** Written in `encoding`. For a POST it is the body; for any other method the query, in place of the URL's own. */
  formdata?: FormDataInit
}

/** Which form of a page to send, and what to change in it. */
export interface FromResponseInit extends Omit<FormRequestInit, 'body'>, FormChoice {
  /** Replaces the form's `action`; may be relative. */
  url?: string
  /** Attributes of the button to click, or its place among the form's fields as `nr`. Default: the first button. */
  clickdata?: Readonly<Record<string, string | number>>
  /** True: no button is clicked, so none is sent. */
  dontClick?: boolean
}

const FORM_OPTIONS = { ...REQUEST_OPTIONS, formdata: true } as const satisfies OptionNames<FormRequestInit>

const { body: _, ...WITHOUT_BODY } = FORM_OPTIONS
const FROM_RESPONSE_OPTIONS = {
  ...WITHOUT_BODY,
  formname: true,
  formid: true,
  formxpath: true,
  formcss: true,
  formnumber: true,
  url: true,
  clickdata: true,
  dontClick: true,
} as const satisfies OptionNames<FromResponseInit>

/**
 * A request that carries a form. Its method is POST when there is `formdata`, unless another one is given.
 *
 * Once made it is a request like any other: a queue keeps its URL and body.
 */
export class FormRequest extends Request {
  /** Throws WL_REQUEST_INVALID for a field that is neither text nor a number, and what `new Request` throws. */
  constructor(url: string | URL, options: FormRequestInit = {}) {
    checkOptions(options, FORM_OPTIONS, { of: 'FormRequest', code: 'WL_REQUEST_INVALID' })
    const { formdata, ...init } = options
    const isForm = formNames(formdata).size > 0
    super(...(isForm ? withForm(url, init, formFields(formdata)) : ([url, init] as const)))
  }

  /**
   * Returns what a browser would send for a form of this page: the values that the form holds, changed by those of
   * `formdata`, where null removes a field.
   *
   * Throws WL_FORM_NOT_FOUND when there is no such form or button.
   */
  static fromResponse(response: Response, options: FromResponseInit = {}): FormRequest {
    checkOptions(options, FROM_RESPONSE_OPTIONS, {
      of: 'FormRequest.fromResponse',
      code: 'WL_REQUEST_INVALID',
      hints: { body: 'The form is the body; its fields are  formdata: { … }' },
    })
    const { formname, formid, formnumber, formxpath, formcss, clickdata, dontClick, ...given } = options
    const { url, formdata, method, ...init } = given
    const form = findForm(response, { formname, formid, formnumber, formxpath, formcss })
    const written = formNames(formdata)
    const clicked = dontClick ? undefined : clickedField(form, clickdata)
    const kept = [...filledFields(form), ...(clicked ? [clicked] : [])].filter(([name]) => !written.has(name))
    return new FormRequest(response.urljoin(url ?? stripHtmlSpace(form.attrib.action ?? '')), {
      encoding: urlEncodingOf(response.encoding),
      ...init,
      method: formMethod(method ?? form.attrib.method),
      formdata: [...kept, ...formFields(formdata)],
    })
  }
}

function withForm(
  url: string | URL,
  init: RequestInit,
  fields: FormFields,
): readonly [string | URL, RequestInit] {
  const form = urlencodedForm(fields, init.encoding)
  const method = init.method ?? 'POST'
  if (method.toUpperCase() !== 'POST') return [withQuery(String(url), form), init]
  const headers = new Headers(init.headers)
  if (!headers.has('content-type')) headers.set('Content-Type', 'application/x-www-form-urlencoded')
  return [url, { ...init, method, headers, body: Buffer.from(form) }]
}

/** A form has these two methods; any other value means GET. */
function formMethod(method: string | undefined): 'GET' | 'POST' {
  return method?.toUpperCase() === 'POST' ? 'POST' : 'GET'
}
