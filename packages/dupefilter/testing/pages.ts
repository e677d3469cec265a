/** Pages to ask filters about, and what a filter may say of so many. */

import { Request, type Seen } from '@webloom/core'

export const page = (n: number) => new Request(`https://example.com/page/${n}`)
export const pages = (from: number, count: number) => Array.from({ length: count }, (_, n) => page(from + n))

export const fresh = (count: number) => new Array<boolean>(count).fill(false)
export const seen = (count: number) => new Array<boolean>(count).fill(true)
export const inDoubt = (count: number) => new Array<Seen>(count).fill('in doubt')

/** A command to Redis that runs a script: for proxies that cut replies off. */
export const isScript = ([name]: readonly string[]) => name === 'EVALSHA' || name === 'EVAL'
