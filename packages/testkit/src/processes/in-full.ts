/**
 * Whether tests try all that varies, as `npm run soak` has them do; `npm test` tries the most telling case. A test file that asks has a
 * soak beside it, which imports it.
 */
export const IN_FULL: boolean = process.env.TESTS_IN_FULL === 'true'

/** All of them in a soak, else those of these names. */
export function casesOf<Case>(all: Readonly<Record<string, Case>>, ...telling: string[]): [string, Case][] {
  const unknown = telling.filter((name) => !Object.hasOwn(all, name))
  if (unknown.length > 0)
    throw new Error(`no case is called ${unknown.join(', ')}; there are ${Object.keys(all).join(', ')}`)
  return Object.entries(all).filter(([name]) => IN_FULL || telling.includes(name))
}

/** All of it in a soak, and the part of it otherwise. */
export function inFull<Value>(all: Value, part: NoInfer<Value>): Value {
  return IN_FULL ? all : part
}
