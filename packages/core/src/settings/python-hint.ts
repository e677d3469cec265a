/** A dotted path of Python where a component is expected. */

/** Returns true for `scrapy.extensions.httpcache.DummyPolicy` and `myproject.stats.Mine`; false for the path of a script. */
function isPythonPath(text: string): boolean {
  return /^[a-z_]\w*(?:\.\w+)+$/i.test(text) && !/\.[cm]?[jt]s$/.test(text)
}

/** Returns the last clause of a message about a component: that it is Python's, and what to write instead. Empty for anything else. */
export function pythonHint(written: unknown): string {
  if (typeof written !== 'string' || !isPythonPath(written)) return ''
  const instead = written.startsWith('scrapy_playwright.')
    ? '; leave it out: the package @webloom/browser renders the pages of requests with meta.browser'
    : ''
  return `; ${written} is Python's${instead}`
}
