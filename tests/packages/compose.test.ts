/** docker-compose.yml and Dockerfile, as far as they can be judged without Docker. What they run is in examples/cluster. */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Settings } from '@webloom/core'
import { DASHBOARD_PORT } from '@webloom/dashboard'
import { MachineLag, runProcess, startCluster, startRedis, startTcpProxy } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const compose = read('docker-compose.yml')
const dockerfile = read('Dockerfile')

interface SeccompProfile {
  readonly defaultAction: string
  readonly syscalls: readonly { readonly names: readonly string[]; readonly action: string }[]
}

/** The lines below a key of the top level, by the keys of the next one: good enough for a file that is ours. */
function sections(key: string): Map<string, string> {
  const body = new RegExp(`^${key}:\\n((?: .*\\n|\\n)*)`, 'm').exec(compose)![1]!
  return new Map(
    [...body.matchAll(/^ {2}([\w-]+):\n((?: {3,}.*\n|\n)*)/gm)].map(([, name, lines]) => [name!, lines!]),
  )
}

const services = sections('services')
const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0

describe('docker-compose.yml', () => {
  test('has two Redis servers, workers, seeds, a site to crawl and a dashboard; when asked for, what observes them', () => {
    const names = (profile?: string) =>
      [...services].flatMap(([name, text]) =>
        /profiles: \[(\w+)\]/.exec(text)?.[1] === profile ? [name] : [],
      )
    expect(names()).toEqual(['redis-queue', 'redis-dedup', 'worker', 'seed', 'site', 'dashboard'])
    expect(names('observe')).toEqual(['prometheus', 'metrics', 'grafana'])
    expect(names('browser')).toEqual(['lamps', 'lamps-site'])
  })

  test('Prometheus finds the dashboard and the workers, and Grafana finds Prometheus; none is open to others', () => {
    const config = read('deploy/prometheus/prometheus.yml')
    expect(services.get('metrics')).toContain('network_mode: service:prometheus\n')
    expect(config).toContain("targets: ['127.0.0.1:6480']\n")
    const [, port] = /WEBLOOM_METRICS_PORT: '(\d+)'/.exec(compose)!
    expect(config).toMatch(new RegExp(`names: \\[worker\\]\\n.*\\n +port: ${port}\\n`))
    expect(read('deploy/grafana/provisioning/datasources/prometheus.yml')).toContain(
      'http://prometheus:9090\n',
    )
    for (const [, text] of services)
      for (const [, published] of text.matchAll(/ports: \['([^']+)'\]/g))
        expect(published).toMatch(/^127\.0\.0\.1:/)
    const paths = [...compose.matchAll(/- \.\/(deploy\/[^:]+):/g)].map(([, path]) => path!)
    expect(paths).toHaveLength(3)
    for (const path of paths) expect(existsSync(join(ROOT, path)), path).toBe(true)
  })

  test('the worker with a browser has the profile that its sandbox needs, and no more rights than any', () => {
    const lamps = services.get('lamps')!
    const [, profile] = /security_opt: \['seccomp:([^']+)'\]/.exec(lamps)!
    expect(lamps).not.toMatch(/privileged|cap_add|user:|SANDBOX/)
    expect(lamps).toContain('init: true\n')
    expect(dockerfile).toContain(` AS ${/target: (\w+)/.exec(lamps)![1]}\n`)
    const [, folder] = /working_dir: \/(\S+)/.exec(lamps)!
    for (const path of [profile!, `${folder}/lamps.ts`]) expect(existsSync(join(ROOT, path)), path).toBe(true)
    const { defaultAction, syscalls } = JSON.parse(read(profile!)) as SeccompProfile
    const named = (action: string) =>
      syscalls.filter((rule) => rule.action === action).flatMap(({ names }) => names)
    expect(defaultAction).toBe('SCMP_ACT_ERRNO')
    expect(named('SCMP_ACT_ALLOW')).toEqual(expect.arrayContaining(['clone', 'clone3', 'unshare', 'chroot']))
    expect(named('SCMP_ACT_ERRNO')).toEqual(expect.arrayContaining(['mount', 'bpf', 'keyctl', 'init_module']))
    const all = syscalls.flatMap(({ names }) => names)
    expect(new Set(all).size).toBe(all.length)
  })

  test('the dashboard listens where the port leads, with a token that is long enough', () => {
    const dashboard = services.get('dashboard')!
    expect(dashboard).toContain('command: [dash, --host, 0.0.0.0]\n')
    expect(dashboard).toContain(`ports: ['127.0.0.1:${DASHBOARD_PORT}:${DASHBOARD_PORT}']\n`)
    const [, token] = /WEBLOOM_DASH_TOKEN: \$\{WEBLOOM_DASH_TOKEN:-([^}]+)\}/.exec(dashboard)!
    expect(token!.length).toBeGreaterThanOrEqual(16)
    expect(compose).toContain(`the password ${token}\n`)
  })

  test('both Redis servers append to a file each second, evict nothing, keep it in a volume, and are asked for PONG', () => {
    const shared = /^x-redis: &redis\n((?: .*\n)*)/m.exec(compose)![1]!
    expect(shared.replace(/\n {4}- /g, ' ')).toContain("--appendonly 'yes' --appendfsync everysec")
    expect(shared.replace(/\n {4}- /g, ' ')).toContain('--maxmemory-policy noeviction')
    expect(shared).toMatch(/healthcheck:\n.*\n? +test: .*redis-cli ping/)
    for (const name of ['redis-queue', 'redis-dedup']) {
      expect(services.get(name)).toContain('<<: *redis')
      expect(services.get(name)).toMatch(/volumes: \[\w+:\/data\]/)
    }
  })

  test('workers use both, keep the crawl when they leave, and wait for seeds and site', () => {
    const password = `\${REDIS_PASSWORD:-a-password-for-this-example}`
    expect(compose).toContain(` REDIS_URL: redis://:${password}@redis-queue:6379\n`)
    expect(compose).toContain(` DUPEFILTER_REDIS_URL: redis://:${password}@redis-dedup:6379\n`)
    const shared = /^x-redis: &redis\n((?: .*\n)*)/m.exec(compose)![1]!
    expect(shared).toContain(`- --requirepass\n    - ${password}\n`)
    expect(shared).toContain(` REDISCLI_AUTH: ${password}\n`)
    expect(compose).toContain(" WEBLOOM_SCHEDULER_PERSIST: 'true'\n")
    const worker = services.get('worker')!
    expect(worker).toContain('environment: *environment')
    expect(worker).toMatch(/seed:\n +condition: service_completed_successfully/)
    for (const name of ['redis-queue', 'redis-dedup', 'site'])
      expect(worker).toMatch(new RegExp(`${name}:\\n +condition: service_healthy`))
  })

  test('a finished worker stays ended, one that died is started again, one that is stopped has time to finish', () => {
    const worker = services.get('worker')!
    expect(worker).toContain('restart: on-failure\n')
    const [, seconds] = /stop_grace_period: (\d+)s/.exec(worker)!
    const grace = Settings.fromLayers({}).getFloat('SHUTDOWN_GRACE')
    expect(Number(seconds)).toBeGreaterThan(grace + 10)
  })

  test('WORKERS or --scale say how many there are', () => {
    expect(services.get('worker')).toMatch(/replicas: \$\{WORKERS:-2\}/)
    expect(compose).not.toContain('container_name')
  })

  test('the seeds are at hosts that the site serves, and all of those are names of it', () => {
    const site = services.get('site')!
    const hosts = [...site.matchAll(/^ {6}- (\S+\.test)$/gm)].map(([, host]) => host)
    expect(hosts).toHaveLength(6)
    expect(site).toMatch(/command: &hosts[\s\S]*aliases: \*hosts/)
    const seeds = read('examples/cluster/seeds.txt').trim().split('\n')
    for (const seed of seeds) expect(hosts).toContain(new URL(seed).hostname)
  })

  test.skipIf(!hasCompose)('is read by docker compose', () => {
    const names = execFileSync('docker', ['compose', '--profile', '*', 'config', '--services'], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    expect(names.trim().split('\n').toSorted()).toEqual([...services.keys()].toSorted())
  })
})

describe('the compose file of npm create webloom', () => {
  const folder = join(ROOT, 'packages/create-webloom/templates/redis')
  const text = readFileSync(join(folder, 'docker-compose.yml'), 'utf8')

  test('workers find Redis, keep the crawl when they leave, and have time to finish', () => {
    const password = `\${REDIS_PASSWORD:-a-password-for-this-example}`
    expect(text).toContain(` REDIS_URL: redis://:${password}@redis:6379\n`)
    expect(text).toContain(` --requirepass ${password}\n`)
    expect(text).toContain(` REDISCLI_AUTH: ${password}\n`)
    expect(text).toContain(" WEBLOOM_SCHEDULER_PERSIST: 'true'\n")
    expect(text).toMatch(/replicas: \$\{WORKERS:-2\}/)
    expect(text).toContain('restart: on-failure\n')
    expect(text).toMatch(/redis:\n +condition: service_healthy/)
    const [, seconds] = /stop_grace_period: (\d+)s/.exec(text)!
    expect(Number(seconds)).toBeGreaterThan(Settings.fromLayers({}).getFloat('SHUTDOWN_GRACE') + 10)
  })

  test('its Redis evicts nothing and is written through', () => {
    expect(text).toMatch(/redis-server --appendonly yes --maxmemory \w+ --maxmemory-policy noeviction /)
    expect(text).toContain('redis-cli ping | grep -q PONG')
  })

  test.skipIf(!hasCompose)('is read by docker compose', () => {
    const names = execFileSync('docker', ['compose', 'config', '--services'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(names.trim().split('\n').toSorted()).toEqual(['redis', 'worker'])
  })
})

test('examples/cluster-bloom: its stage, its files and its site are there, and workers have time to finish', () => {
  const cluster = read('examples/cluster-bloom/docker-compose.yml')
  expect(dockerfile).toContain(` AS ${/target: (\w+)/.exec(cluster)![1]}\n`)
  const [, folder] = /working_dir: \/(\S+)/.exec(cluster)!
  const [, spider] = /\[worker, ([\w.]+)/.exec(cluster)!
  const [, server] = /node, \/(\S+),/.exec(cluster)!
  for (const path of [`${folder}/${spider}`, server!]) expect(existsSync(join(ROOT, path)), path).toBe(true)
  const [, site] = /site=http:\/\/([\w.]+):8000/.exec(cluster)!
  expect(cluster).toContain(`\n  ${site}:\n`)
  const [, seconds] = /stop_grace_period: (\d+)s/.exec(cluster)!
  expect(Number(seconds)).toBeGreaterThan(Settings.fromLayers({}).getFloat('SHUTDOWN_GRACE') + 10)
})

describe('Dockerfile', () => {
  test('npm ci sees the package.json of every workspace', () => {
    for (const name of readdirSync(join(ROOT, 'packages')))
      expect(dockerfile).toContain(`COPY packages/${name}/package.json packages/${name}/\n`)
  })

  test('the last stages take only what is built, and run as node', () => {
    const stages = new Map(
      dockerfile.split(/^(?=FROM )/m).map((text) => [/ AS (\w+)$/m.exec(text)?.[1], text]),
    )
    expect([...stages.keys()]).toEqual([undefined, 'build', 'webloom', 'browser', 'example'])
    const release = stages.get('webloom')!
    expect(release).toContain('USER 1000:1000\n')
    expect(release).toContain('STOPSIGNAL SIGTERM\n')
    expect(release + stages.get('example')).not.toMatch(/npm|apt-get/)
    expect(stages.get('browser')).toMatch(/^FROM webloom [\s\S]*\nUSER 1000:1000\n\s*(?:#.*\s*)?$/)
    expect(dockerfile).toMatch(/^FROM node:24-bookworm-slim AS build$/m)
  })

  test('the health check is a file that is copied, and gives up before Docker does', () => {
    const [, seconds, path] = /HEALTHCHECK .*--timeout=(\d+)s[\s\S]*?"\/webloom\/([^"]+)"/.exec(dockerfile)!
    expect(dockerfile).toContain(`COPY --from=build /webloom/${path} `)
    const [, answerMsMax] = /ANSWER_MS_MAX = (\d+)/.exec(read(path!))!
    expect(Number(seconds) * 1000).toBeGreaterThan(Number(answerMsMax) + 1000)
  })
})

describe('the health check', () => {
  const check = (env: Record<string, string>) =>
    runProcess(process.execPath, [join(ROOT, 'scripts/container-health.ts')], {
      env: { QUEUE_REDIS_URL: undefined, DUPEFILTER_REDIS_URL: undefined, ...env },
    })

  test('is content when both Redis servers answer', async () => {
    await using queue = await startRedis({ password: 'p@ss' })
    await using filter = await startRedis()
    const { code, stderr } = await check({ REDIS_URL: queue.url, DUPEFILTER_REDIS_URL: filter.url })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('names the one that is away or refuses, and never a password', async () => {
    await using queue = await startRedis({ password: 'p@ss' })
    const away = await startRedis()
    await away.stop()
    const refused = await check({ REDIS_URL: queue.url, DUPEFILTER_REDIS_URL: away.url })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`${away.url}/0: connect`) })
    const wrong = await check({ REDIS_URL: `redis://:other@${queue.host}:${queue.port}` })
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('WRONGPASS') })
    expect(wrong.stderr).not.toContain('other')
  })

  test('says in one line that a cluster does not let it in', async () => {
    await using cluster = await startCluster({ masters: 1, password: 'right' })
    const { code, stderr } = await check({ REDIS_URL: cluster.url.replace('right', 'other') })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^redis\+cluster:.*: WRONGPASS .*\n$/)
  })

  test('tells of a worker of this machine that is stuck, and not of one whose process has ended', async () => {
    await using queue = await startRedis()
    const tells = (startedAt: number) => {
      const entry = { id: 'w1', host: hostname(), pid: process.pid, startedAt: new Date(startedAt), at: 0 }
      return queue.command('HSET', 'webloom:{quotes}:workers', 'w1', JSON.stringify(entry))
    }
    const noted = { spider: 'quotes', crawlId: null, statsKey: 'quotes:stats', joinedAt: 1, release: '' }
    await queue.command('HSET', 'webloom:crawls', '{quotes}', JSON.stringify(noted))
    await tells(Date.now())
    expect(await check({ REDIS_URL: queue.url })).toMatchObject({
      code: 1,
      stderr: 'worker w1 sends no heartbeat\n',
    })
    // Another process had the number then, as of a container that was started again.
    await tells(Date.now() - process.uptime() * 1000 - 60_000)
    expect(await check({ REDIS_URL: queue.url })).toMatchObject({ code: 0, stderr: '' })
  })

  test('does not wait longer than its deadline for one that hangs', async () => {
    await using queue = await startRedis()
    await using proxy = await startTcpProxy({ target: queue.url })
    proxy.hang()
    using lag = new MachineLag()
    const started = performance.now()
    const { code, stderr } = await check({ REDIS_URL: proxy.url })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `no answer within 3000 ms from ${proxy.url}/0\n`,
    })
    expect(performance.now() - started).toBeLessThan(10_000 + lag.ms)
  })
})
