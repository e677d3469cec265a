/**
 * The URLs that `capture` means.
 *
 * A page chooses its URLs, and Chromium takes two million characters. A regular expression of two `**` takes hours for some of those,
 * in which nothing else in the worker happens. So all ways to fit the glob are followed at once, one character after the other.
 */

// What is longer is no URL of an API.
const CHARACTERS_MAX = 65_536

/** Returns whether a URL is meant: `/api/**` is about paths, anything else about whole URLs. */
export function globOf(glob: string): (url: string) => boolean {
  const steps = glob.match(/\*\*|./gs) ?? []
  return (url) => {
    if (url.length > CHARACTERS_MAX) return false
    if (!glob.startsWith('/')) return fits(steps, url)
    const { pathname, search } = new URL(url)
    return fits(steps, pathname) || (search !== '' && fits(steps, pathname + search))
  }
}

/** @param steps characters, `*` and `**` */
function fits(steps: readonly string[], text: string): boolean {
  /** Whether so many steps may be done. */
  let done = new Uint8Array(steps.length + 1)
  let next = new Uint8Array(steps.length + 1)
  const reach = (reached: Uint8Array, count: number) => {
    reached[count] = 1
    // A star may stand for nothing.
    if (steps[count]?.startsWith('*')) reach(reached, count + 1)
  }
  reach(done, 0)
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    for (let count = 0; count < steps.length; count++) {
      if (done[count] === 0) continue
      const step = steps[count]!
      if (step === '**' || (step === '*' && character !== '/')) reach(next, count)
      else if (step === character) reach(next, count + 1)
    }
    ;[done, next] = [next, done]
    next.fill(0)
  }
  return done[steps.length] === 1
}
