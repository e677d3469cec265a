/** Servers that speak TLS at a port of their own, beside the one that tests' commands go to. */

import type { RedisConfig } from './redis-home.ts'

/** Paths of PEM files. */
export interface RedisTlsFiles {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** Returns settings of redis.conf, which a Sentinel's file takes, too. */
export function tlsConfig({ ca, cert, key }: RedisTlsFiles, port: number): RedisConfig {
  return {
    'tls-port': String(port),
    'tls-ca-cert-file': ca,
    'tls-cert-file': cert,
    'tls-key-file': key,
  }
}
