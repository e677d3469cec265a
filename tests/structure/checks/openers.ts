import { packageSources } from '../files/source-files.ts'

/** What opens sockets, threads, processes and databases, and the places that may. Everybody else is given what is open. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  ioredis: ['webloom/src/redis/', 'queue/src/locks/lock-keeper-thread.ts'],
  bullmq: ['queue/src/jobs/', 'queue/src/buckets/', 'queue/src/schedules/'],
  undici: ['downloader/src/', 'webloom/src/bench/'],
  'playwright-core': ['browser/src/chromium/start-chromium.ts'],
  '@hono/node-server': ['dashboard/src/serving/listen-on.ts'],
  '@modelcontextprotocol/sdk': ['dashboard/src/mcp/'],
  'node:sqlite': ['core/src/files/node-sqlite.ts'],
  'node:http': ['webloom/src/bench/', 'downloader/src/egress/'],
  'node:https': [],
  'node:http2': [],
  'node:dgram': ['browser/src/chromium/egress-probe.ts'],
  'node:worker_threads': ['queue/src/locks/', 'webloom/src/processes/trial-process.ts'],
  'node:child_process': ['webloom/src/'],
  'node:net': ['downloader/src/egress/', 'webloom/src/doctor/', 'webloom/src/redis/lasting-trouble.ts'],
  'node:tls': ['downloader/src/egress/', 'webloom/src/redis/tls-refusal.ts'],
}

/** Of these only some names open what they are named for. */
const OPENING: Readonly<Record<string, readonly string[]>> = {
  'node:net': ['connect', 'createConnection', 'createServer', 'Server', 'Socket'],
  'node:tls': ['connect', 'createServer', 'Server', 'TLSSocket'],
}

/** Of everybody's: they connect to any address, past the address guard. A `data:` URL is read without a connection. */
const GLOBALS =
  /(?<![.\w#]|async |function )fetch\((?!\w+\??:)|\bglobalThis\.fetch\b|\bnew (?:WebSocket|EventSource)\(/g
const MAY_FETCH = ['downloader/src/handlers/data-download-handler.ts']
/** `fetch` is something else where it is a parameter or a variable. */
const OWN_FETCH = /\bfetch\??:|[{,(]\s*fetch\s*[,})]|\b(?:const|let)\s+fetch\b/
/** Comments and strings, in which `fetch()` is only named. */
const NOT_CODE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g

/** Classes that open connections as they are made, and who may make them. */
const CONNECTIONS = /\bnew (?:\w+\.)?(RedisServers|RedisLink|Redis|Cluster|ClusterClient)\(/g
const MAKERS = [
  // How options become a client. `webloom/src/redis/` and the thread that keeps locks call it.
  'core/src/redis/redis-client.ts',
  'core/src/redis/cluster-client.ts',
  'webloom/src/redis/',
  'webloom/src/assembly/',
  'webloom/src/commands/seed.ts',
  'webloom/src/doctor/redis-checkup.ts',
  'webloom/src/schedules/schedule-places.ts',
]

/**
 * Packages whose classes stand behind ports, and who may name which: the assembly all of them; what works on one thing without
 * a crawl, the classes of that.
 */
const BEHIND_PORTS = ['dupefilter', 'queue', 'scheduler', 'downloader']
const NAMERS: Readonly<Record<string, readonly string[] | 'all'>> = {
  'webloom/src/assembly/': 'all',
  // What people install hands them on.
  'webloom/src/index.ts': 'all',
  'webloom/src/ports.ts': 'all',
  'webloom/src/authoring/workbench.ts': ['HostAddresses', 'HostSlots', 'MemoryStartHosts'],
  'webloom/src/commands/export.ts': ['ScrapyRedisQueue'],
  'webloom/src/commands/import.ts': ['ScrapyRedisQueue'],
  'webloom/src/transfer/crawl-failures.ts': ['JobDir'],
  'webloom/src/commands/seed.ts': ['RedisSeedPush'],
  'webloom/src/commands/schedule.ts': ['CrawlSchedules'],
  'webloom/src/schedules/project-crawls.ts': ['DueRuns'],
  'webloom/src/doctor/network.ts': ['EnvironmentProxies'],
  'webloom/src/transfer/': ['HostAddresses', 'HostSlots', 'JobDir'],
}

const IMPORT =
  /^(?:import|export) (?!type\b)(\{[^}]*\}|[\w*, {}]+?)\s+from '([^']+)'|\b(?:import|require|getBuiltinModule|createRequire\(import\.meta\.url\))\('([^']+)'\)/gm

/** Files that open what they should be given, or that name a class which they should know by its port. */
export function openerProblems(root: string): string[] {
  return packageSources(root)
    .filter(({ path }) => !path.startsWith('packages/testkit/'))
    .flatMap(({ path, text }) => {
      const own = path.slice('packages/'.length)
      const isIn = (places: readonly string[]) => places.some((place) => own.startsWith(place))
      const code = text.replaceAll(/typeof import\('[^']+'\)/g, '')
      const imports = [...code.matchAll(IMPORT)].flatMap(([, names = '', from, other]) => {
        const module = (from ?? other)!
        const opener = openerOf(module)
        const places = OPENERS[opener ?? '']
        if (opener && places && !isIn(places) && (other || opens(opener, valuesOf(names))))
          return [`${path} imports ${module}: only ${places.join(', ') || 'nobody'} may`]
        const isBehindPort = BEHIND_PORTS.some((name) => module === `@webloom/${name}`)
        const classes = isBehindPort ? valuesOf(names).filter((name) => /^(?:[A-Z][a-z]|\*)/.test(name)) : []
        return classes
          .filter((name) => !mayName(own, name))
          .map((name) => `${path} names ${name} of ${module}: only ${namersOf(name).join(', ')} may`)
      })
      const made = isIn(MAKERS) ? [] : [...code.matchAll(CONNECTIONS)].map(([, name]) => name!)
      const called = isIn(MAY_FETCH) ? [] : globalsIn(code)
      return [
        ...imports,
        ...made.map((name) => `${path} makes ${name}: only ${MAKERS.join(', ')} may`),
        ...called.map((name) => `${path} calls ${name}: only ${MAY_FETCH.join(', ')} may`),
      ]
    })
}

/** Permissions that nothing uses: what they were given for has moved, and the next who comes there may not notice. */
export function unusedPermissions(root: string): string[] {
  const sources = packageSources(root)
  const isThere = (place: string, what: RegExp) =>
    sources.some(({ path, text }) => path.startsWith(`packages/${place}`) && text.search(what) >= 0)
  const opened = Object.entries(OPENERS).flatMap(([module, places]) =>
    places.map((place) => ({ place, what: `import ${module}`, sign: new RegExp(`'${module}['/]`) })),
  )
  const made = MAKERS.map((place) => ({ place, what: 'make connections', sign: CONNECTIONS }))
  const named = Object.entries(NAMERS).flatMap(([place, names]) =>
    (names === 'all' ? [] : names).map((name) => ({
      place,
      what: `name ${name}`,
      sign: new RegExp(`\\b${name}\\b`),
    })),
  )
  return [...opened, ...made, ...named]
    .filter(({ place, sign }) => !isThere(place, sign))
    .map(({ place, what }) => `${place} may ${what} and does not: take the permission away`)
}

/** The module's name in OPENERS, also where a file within its package is imported. */
function openerOf(module: string): string | undefined {
  return Object.keys(OPENERS).find((name) => module === name || module.startsWith(`${name}/`))
}

function opens(opener: string, values: readonly string[]): boolean {
  const opening = OPENING[opener]
  return opening
    ? values.some((value) => opening.includes(value.split(' ')[0]!) || !/^\w+(?: as |$)/.test(value))
    : values.length > 0
}

function globalsIn(code: string): string[] {
  const plain = code.replaceAll(NOT_CODE, '')
  const called = [...plain.matchAll(GLOBALS)].map(([call]) => call.replace('(', ''))
  return [...new Set(called)].filter((name) => name !== 'fetch' || !OWN_FETCH.test(plain))
}

function mayName(path: string, name: string): boolean {
  return namersOf(name).some((place) => path.startsWith(place))
}

/** The places that may name a class which stands behind a port. */
function namersOf(name: string): string[] {
  return Object.keys(NAMERS).filter((place) => NAMERS[place] === 'all' || NAMERS[place]!.includes(name))
}

/** What an import brings, or an export hands on, besides types. */
function valuesOf(names: string): string[] {
  return names
    .replaceAll(/[{}]/g, '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
}
