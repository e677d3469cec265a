import type { RedisOptions, RedisTls } from '@webloom/core'
import { shellQuoted } from '../terminal/resume-line.ts'

/** `redis-cli` for that server, or the first of its Sentinels. It asks for the password, which is not among what is printed. */
export function cliOf({ host, port, tls: ofServer, db, sentinels, nodes, ...login }: RedisOptions): string {
  const [at = { host, port }] = sentinels ?? nodes ?? []
  const username = sentinels ? login.sentinelUsername : login.username
  const password = sentinels ? login.sentinelPassword : login.password
  const tls = sentinels ? login.sentinelTLS : ofServer
  return [
    'redis-cli',
    ...(at.host !== undefined ? [`-h ${shellQuoted(at.host)}`] : []),
    ...(at.port !== undefined ? [`-p ${at.port}`] : []),
    ...(username ? [`--user ${shellQuoted(username)}`] : []),
    ...(password ? ['--askpass'] : []),
    ...(tls ? ['--tls', ...tlsArguments(tls)] : []),
    ...(db && !sentinels ? [`-n ${db}`] : []),
  ].join(' ')
}

/** Returns `cliOf` for an administrator: a user of the crawl's own has no right to change the server. */
export function adminCliOf({ username = '', ...others }: RedisOptions): string {
  return ['', 'default'].includes(username)
    ? cliOf({ ...others, ...(username && { username }) })
    : cliOf({ ...others, password: '' })
}

const CLI_FILES = { ssl_ca_certs: 'cacert', ssl_certfile: 'cert', ssl_keyfile: 'key' } as const

function tlsArguments({ files = {}, rejectUnauthorized }: RedisTls): string[] {
  const named = Object.entries(CLI_FILES).filter(([name]) => files[name] !== undefined)
  return [
    ...named.map(([name, option]) => `--${option} ${shellQuoted(files[name]!)}`),
    ...(rejectUnauthorized === false ? ['--insecure'] : []),
  ]
}
