/** Returns the host name of a URL in its ASCII form; empty when it has none. */
export function hostNameOf(url: string): string {
  return URL.parse(url)?.hostname ?? ''
}
