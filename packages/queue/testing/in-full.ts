/** Tests of many cases, or of large ones: `npm test` runs those in which the promise most likely breaks, `npm run soak` all. */

const IS_IN_FULL = process.env.TESTS_IN_FULL === 'true'

/** All of it in a soak, and the part of it otherwise. */
export function inFull<Value>(all: Value, part: NoInfer<Value>): Value {
  return IS_IN_FULL ? all : part
}
