/** A Redis that speaks TLS alone, with certificates of an authority of its own; it asks for one of ours, too. */

import { execFileSync } from 'node:child_process'
import { redisTargets, Settings, silentLogger } from '@webloom/core'
import {
  freePort,
  type RedisServer,
  startCluster,
  startRedis,
  startSentinels,
  type TempDir,
  tempDir,
} from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkRedisServers } from '../doctor/redis-checkup.ts'
import { RedisServers } from './redis-servers.ts'
import { tlsRefusalAt } from './tls-refusal.ts'

let folder: TempDir
let redis: RedisServer
let port: number

const openssl = (...args: string[]) =>
  execFileSync('openssl', args, { cwd: folder.path, stdio: ['ignore', 'ignore', 'pipe'] })

/** `<name>.pem` and `<name>.key`, signed by that authority; by itself: an authority. */
function certificate(name: string, by = name, host = '127.0.0.1'): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`]
  const signed = by === name ? [] : ['-CA', `${by}.pem`, '-CAkey', `${by}.key`]
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=IP:${host}`]
  openssl('req', '-x509', ...key, ...signed, ...names, '-days', '2', '-out', `${name}.pem`)
}

beforeAll(async () => {
  folder = await tempDir('webloom-tls-')
  for (const authority of ['ca', 'stranger']) certificate(authority)
  certificate('server', 'ca')
  certificate('elsewhere', 'ca', '127.0.0.9')
  certificate('worker', 'ca')
  certificate('impostor', 'stranger')
  port = await freePort()
  redis = await startRedis({
    config: {
      'tls-port': String(port),
      'tls-cert-file': folder.join('server.pem'),
      'tls-key-file': folder.join('server.key'),
      'tls-ca-cert-file': folder.join('ca.pem'),
    },
  })
})
afterAll(async () => {
  await redis.stop()
  await folder.remove()
})

const file = (name: string) => encodeURIComponent(folder.join(name))
const TRUSTED = () => `ssl_ca_certs=${file('ca.pem')}`
const KNOWN = () => `${TRUSTED()}&ssl_certfile=${file('worker.pem')}&ssl_keyfile=${file('worker.key')}`
const MIXED = () => `ssl_certfile=${file('worker.pem')}&ssl_keyfile=${file('impostor.key')}`

/** Through all that a crawl goes: settings, options, the crawl's own connections and one that a component makes of it. */
async function ping(url: string, startTimeoutS = 30): Promise<string> {
  const command = { REDIS_URL: url, REDIS_START_TIMEOUT: startTimeoutS }
  const settings = Settings.fromLayers({ command })
  expect(redisTargets(settings, 'queue')[0]!.shown).not.toContain('ssl_')
  const servers = new RedisServers(settings, silentLogger)
  const client = servers.redis('queue')
  try {
    await servers.open({ forWriting: true })
    const own = client.duplicate()
    try {
      return await own.ping()
    } finally {
      own.disconnect()
    }
  } finally {
    servers.close()
  }
}

/** At once: nothing is tried again for REDIS_START_TIMEOUT. */
async function refusal(url: string): Promise<string> {
  const startedAt = performance.now()
  const error = await ping(url).catch((refused: Error) => refused)
  expect(error).toMatchObject({ code: 'WL_REDIS_REFUSED' })
  expect(performance.now() - startedAt).toBeLessThan(20_000)
  return (error as Error).message
}

test('with the file of who signed its certificate, and a certificate of ours, it is used', async () => {
  expect(await ping(`rediss://127.0.0.1:${port}?${KNOWN()}`)).toBe('PONG')
  await redis.command('CONFIG', 'SET', 'tls-auth-clients', 'no')
  expect(await ping(`rediss://127.0.0.1:${port}?${TRUSTED()}`)).toBe('PONG')
  expect(await ping(`rediss://127.0.0.1:${port}?ssl_cert_reqs=none`)).toBe('PONG')
  await redis.command('CONFIG', 'SET', 'tls-auth-clients', 'yes')
})

test('doctor: lines for redis-cli name the files', async () => {
  await redis.command('CONFIG', 'SET', 'maxmemory', '1gb', 'maxmemory-policy', 'allkeys-lru')
  const REDIS_URL = `rediss://127.0.0.1:${port}?${KNOWN()}`
  const found = await checkRedisServers(Settings.fromLayers({ command: { REDIS_URL } }))
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  const [ca, cert, key] = ['ca.pem', 'worker.pem', 'worker.key'].map((name) => folder.join(name))
  expect(found).toContainEqual(
    expect.objectContaining({
      check: 'Redis policy',
      type: `redis-cli -h 127.0.0.1 -p ${port} --tls --cacert ${ca} --cert ${cert} --key ${key} CONFIG SET maxmemory-policy noeviction`,
    }),
  )
})

test('doctor: where the server asks for a certificate of ours, the line to type has its parameters, and those that are there', async () => {
  const REDIS_URL = `rediss://127.0.0.1:${port}?${TRUSTED()}`
  expect(await checkRedisServers(Settings.fromLayers({ command: { REDIS_URL } }))).toMatchObject([
    {
      state: 'fail',
      type: `export REDIS_URL='rediss://user:password@127.0.0.1:${port}/0?ssl_ca_certs=${folder.join('ca.pem')}&ssl_certfile=/path/own.pem&ssl_keyfile=/path/own.key'`,
    },
  ])
})

test('each connection that asks why hears it, also of a single server, which resets half of those that write', async () => {
  const settings = Settings.fromLayers({ command: { REDIS_URL: `rediss://127.0.0.1:${port}?${TRUSTED()}` } })
  const { options } = redisTargets(settings, 'queue')[0]!
  const heard = await Promise.all(Array.from({ length: 20 }, () => tlsRefusalAt(options, 30_000)))
  for (const error of heard) expect(error?.message).toMatch(/alert certificate required/)
})

test('without the file, or with that of another, it is refused with the parameter to set', async () => {
  const nameFile =
    /signed by nobody whom this machine trusts.*\?ssl_ca_certs=\/path\/ca\.pem behind REDIS_URL/
  expect(await refusal(`rediss://127.0.0.1:${port}`)).toMatch(nameFile)
  expect(await refusal(`rediss://127.0.0.1:${port}?ssl_ca_certs=${file('stranger.pem')}`)).toMatch(nameFile)
})

test('without a certificate of ours, or with one that it does not believe, it says which', async () => {
  expect(await refusal(`rediss://127.0.0.1:${port}?${TRUSTED()}`)).toMatch(
    /asks for a certificate of ours.*\?ssl_certfile=/,
  )
  const impostor = `ssl_certfile=${file('impostor.pem')}&ssl_keyfile=${file('impostor.key')}`
  expect(await refusal(`rediss://127.0.0.1:${port}?${TRUSTED()}&${impostor}`)).toMatch(
    /does not believe our own certificate, which ssl_certfile names/,
  )
  expect(await refusal(`rediss://127.0.0.1:${port}?${TRUSTED()}&${MIXED()}`)).toMatch(
    /the key that ssl_keyfile names is not that of the certificate/,
  )
})

test('a certificate of another host is refused unless the host is not to be looked at', async () => {
  const [cert, key] = [folder.join('elsewhere.pem'), folder.join('elsewhere.key')]
  await redis.command('CONFIG', 'SET', 'tls-cert-file', cert, 'tls-key-file', key)
  expect(await refusal(`rediss://127.0.0.1:${port}?${KNOWN()}`)).toMatch(
    /is of another host than REDIS_URL names.*\?ssl_check_hostname=false/,
  )
  expect(await ping(`rediss://127.0.0.1:${port}?${KNOWN()}&ssl_check_hostname=false`)).toBe('PONG')
})

test('TLS where none is spoken is told, after a while: a server that is starting ends connections, too', async () => {
  await expect(ping(`rediss://127.0.0.1:${redis.port}`, 1)).rejects.toMatchObject({
    code: 'WL_REDIS_UNREACHABLE',
    message: expect.stringContaining('rediss:// needs a port where TLS is spoken'),
  })
})

const FILES = () => ({
  ca: folder.join('ca.pem'),
  cert: folder.join('server.pem'),
  key: folder.join('server.key'),
})

test('a cluster whose nodes and bus speak TLS is used, and refused like any server', async () => {
  await using cluster = await startCluster({ password: 'se:cret', tls: FILES() })
  expect(cluster.url).toMatch(/^rediss\+cluster:/)
  expect(await ping(`${cluster.url}?${KNOWN()}`)).toBe('PONG')
  expect(await refusal(cluster.url)).toMatch(/signed by nobody whom this machine trusts/)
  expect(await refusal(`${cluster.url}?${TRUSTED()}&${MIXED()}`)).toMatch(/the key .* is not that of the/)
  await expect(ping(cluster.url.replace('rediss', 'redis'), 1)).rejects.toMatchObject({
    code: 'WL_REDIS_UNREACHABLE',
  })
})

test('Sentinels and servers that speak TLS are used, also after the master has changed', async () => {
  await using redis = await startSentinels({ downAfterMs: 500, password: 'se:cret', tls: FILES() })
  expect(redis.url).toMatch(/^rediss\+sentinel:/)
  expect(await ping(`${redis.url}?${KNOWN()}`)).toBe('PONG')
  expect(await refusal(redis.url)).toMatch(/signed by nobody whom this machine trusts/)
  const master = await redis.untilWritable()
  await master.kill()
  await redis.untilWritable(master)
  expect(await ping(`${redis.url}?${KNOWN()}`)).toBe('PONG')
})
