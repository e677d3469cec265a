/** The host name of a URL in its ASCII form; empty when there is none. */
export function hostNameOf(url: string): string {
  return URL.parse(url)?.hostname ?? ''
}
