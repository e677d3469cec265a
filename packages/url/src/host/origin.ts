/** Returns everything before the path of a URL, as written: scheme, host and port. Costs less than parsing the URL. */
export function originOf(url: string): string {
  const hostStart = url.indexOf('://') + 3
  const length = url.slice(hostStart).search(/[/?#]/)
  return length < 0 ? url : url.slice(0, hostStart + length)
}
