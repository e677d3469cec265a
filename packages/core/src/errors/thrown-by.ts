/** Who threw what, of the methods that a user's own code may have: an error says where it was made, and not whose call it ended. */

/** Weak: an error is forgotten with the page that it ended. */
const throwers = new WeakMap<object, string>()

/**
 * Returns what was thrown, and notes who threw it. Returns an Error for undefined and null, as `Promise.reject()` gives: nothing else would
 * tell them from "no error", and a log line would hold nothing.
 *
 * @param who as a message names it, e.g. `./proxy.ts#Proxy.processRequest`
 */
export function thrownBy(thrown: unknown, who: string): unknown {
  const error = thrown ?? new Error(`${who} threw ${thrown}; throw an Error, whose message says why`)
  // An error that passes several calls began with the first.
  if (typeof error === 'object' && !throwers.has(error)) throwers.set(error, who)
  return error
}

/** Returns who threw that; undefined when it is not known. */
export function throwerOf(thrown: unknown): string | undefined {
  return typeof thrown === 'object' && thrown !== null ? throwers.get(thrown) : undefined
}
