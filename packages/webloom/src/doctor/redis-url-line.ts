import { environmentVariable, type RedisOptions, type RedisTarget, redisUrlText } from '@webloom/core'
import type { Refusal } from '../redis/refusal.ts'

/** Returns the line that sets the URL of a server anew, with all that it has to have; what is secret is to be filled in. */
export function urlLine(
  { setting, shown, options }: Pick<RedisTarget, 'setting' | 'shown'> & { readonly options?: RedisOptions },
  { isSingle, params = [] }: Omit<Refusal, 'why'> = {},
): string {
  const [place] = options?.sentinels ?? options?.nodes ?? []
  const address =
    isSingle && place
      ? redisUrlText({ kind: 'server', isTls: options?.tls !== undefined, addresses: [place] })
      : shown
  const query = queryOf(isSingle ? { ...options, sentinels: [] } : options, params)
  const url = `${address.replace('://', '://user:password@')}${query}`
  // In quotation marks in any case, as passwords need them.
  return `export ${environmentVariable(setting)}='${url.replaceAll("'", "'\\''")}'`
}

/** Of those that it has, and those that it lacks. */
function queryOf(options: RedisOptions = {}, lacked: readonly string[]): string {
  const { tls, sentinels = [], sentinelUsername, sentinelPassword } = options
  const texts: Readonly<Record<string, string>> = {
    ...tls?.files,
    ...(sentinels.length > 0 && sentinelUsername !== undefined && { sentinel_username: 'user' }),
    ...(sentinels.length > 0 && sentinelPassword !== undefined && { sentinel_password: 'password' }),
    ...Object.fromEntries(lacked.map((param) => param.split('='))),
  }
  const params = Object.entries(texts).map(([name, value]) => `${name}=${encodeURI(value)}`)
  return params.length > 0 ? `?${params.join('&')}` : ''
}
