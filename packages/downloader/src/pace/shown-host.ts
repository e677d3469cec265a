import { originOf } from '@webloom/core'

/** Returns name and port, without a user's name and password: the lists are shown. */
export function shownHostOf(url: string): string {
  const origin = originOf(url)
  return origin.slice(Math.max(origin.indexOf('//') + 1, origin.lastIndexOf('@')) + 1)
}
