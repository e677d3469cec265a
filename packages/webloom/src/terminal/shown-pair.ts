import { withoutSecrets } from '@webloom/core'

/** Returns what people may see of `NAME=value`: settings and arguments that are secrets by their names are hidden, too. */
export function shownPair(pair: string): string {
  const at = pair.indexOf('=')
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
  const cleared = withoutSecrets('', { [name]: withoutSecrets(name, value) }) as Record<string, unknown>
  return `${name}=${cleared[name]}`
}
