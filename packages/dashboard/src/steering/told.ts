/**
 * What the page says after a form was sent: in a cookie that lives for one answer, as the dashboard keeps nothing. A cookie has no words
 * of its own, so nobody can put any there.
 */

import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { counted } from '../text/figures.ts'

const COOKIE = 'told'
const LIVES_S = 30

const WORDS: Readonly<Record<string, (count: number) => string>> = {
  pause: () => 'The crawl is paused: workers finish what they have in flight and begin nothing.',
  resume: () => 'The crawl goes on.',
  stop: () => 'The crawl is told to stop: workers finish what they have in flight and end.',
  set_host: () => 'All workers know of it within two seconds.',
  failed_retry: (count) => `${counted(count, 'request')} ${count === 1 ? 'is' : 'are'} queued again.`,
  failed_drop: (count) =>
    `${counted(count, 'request')} ${count === 1 ? 'is' : 'are'} deleted from the ledger.`,
}

/** @param count of what was done, where the verb has one */
export function noteTold(c: Context, verb: string, count: number): void {
  setCookie(c, COOKIE, `${verb}.${count}`, { path: '/', maxAge: LIVES_S, sameSite: 'Strict', httpOnly: true })
}

/** Once. */
export function toldWords(c: Context): string | undefined {
  const text = getCookie(c, COOKIE)
  if (text === undefined) return undefined
  deleteCookie(c, COOKIE, { path: '/' })
  const [, verb = '', count = '0'] = /^([a-z_]{1,20})\.(\d{1,9})$/.exec(text) ?? []
  return Object.hasOwn(WORDS, verb) ? WORDS[verb]!(Number(count)) : undefined
}
