/**
 * What our tests and benchmarks stand on. It imports none of our other packages, so that it can judge all of them.
 */

// The fake web: real HTTP servers on loopback, deterministic by seed, that know what a crawl of them must find.

export type { BodyEncoding, FakeWebOptions, HangingPage, PagePlace, SlowPage } from './graph/options.ts'
export { FakeWeb, type RouteHandler, startFakeWeb } from './web/fake-web.ts'
export { FakeWebProcess, startFakeWebProcess } from './web/fake-web-process.ts'

// Pages that are broken, and chance that is the same each time.

export { randomStream } from './graph/random.ts'
export { brokenMarkup } from './pages/broken-markup.ts'

// A web that attacks.

export type { Expected, HostileCase } from './hostile/hostile-case.ts'
export {
  HOSTILE_CASES,
  type HostileCertificates,
  type HostileUrl,
  HostileWeb,
  startHostileWeb,
} from './hostile/hostile-web.ts'

// What is true of it, and what happened to it.

export type { PageItem } from './pages/page-html.ts'
export { type Hit, HitLog } from './web/hit-log.ts'
export type { FakeWebTruth, PageTruth } from './web/truth.ts'

// A real Redis, to be used, killed and restarted.

export { type RedisCluster, type StartClusterOptions, startCluster } from './redis/redis-cluster.ts'
export { ensureRedisServer, RedisMissing } from './redis/redis-install.ts'
export { freePort } from './redis/redis-port.ts'
export { findRedis, type RedisProgram } from './redis/redis-program.ts'
export type { RedisReply } from './redis/redis-resp.ts'
export {
  type Sentinel,
  type SentinelRedis,
  type StartSentinelsOptions,
  startSentinels,
} from './redis/redis-sentinel.ts'
export { type RedisServer, type StartRedisOptions, startRedis } from './redis/redis-server.ts'
export {
  type CommandMatch,
  type ProxiedCommand,
  type ProxyFault,
  startTcpProxy,
  type TcpProxy,
  type TcpProxyOptions,
} from './servers/tcp-proxy.ts'
export type { Verdict } from './servers/tcp-proxy-connection.ts'

// A real browser.

export { startBrowser } from './browser/browser.ts'
export { ChromiumMissing, ensureChromium, findChromium } from './browser/chromium-install.ts'

// A real Prometheus.

export {
  ensurePrometheus,
  PrometheusMissing,
  type PrometheusPrograms,
} from './prometheus/prometheus-install.ts'
export { type PrometheusServer, startPrometheus } from './prometheus/prometheus-server.ts'

// A web that means ill.

export { WAYS_INSIDE, type WayInside } from './hostile/ways-inside.ts'

// A name server.

export { type DnsRecords, DnsServer, type DnsServerOptions, startDnsServer } from './servers/dns-server.ts'

// Folders and processes of a test, and the time it takes.

export { cpuMs } from './processes/cpu-ms.ts'
export { casesOf, IN_FULL, inFull } from './processes/in-full.ts'
export { InUse } from './processes/in-use.ts'
export { MachineLag } from './processes/machine-lag.ts'
export {
  type ProcessOptions,
  type ProcessResult,
  runProcess,
  type StartedProcess,
  startProcess,
} from './processes/run-process.ts'
export { type TempDir, tempDir } from './processes/temp-dir.ts'
export { S3Server, type S3ServerOptions, startS3Server } from './servers/s3-server.ts'
