/**
 * Why there is no TLS with a server, and the parameter to set.
 *
 * Of a Sentinel and of a cluster's nodes ioredis tells only that the connection is closed, and of a single server, in half of all tries, that it
 * was reset: what is written to a connection that the server has closed takes its last words away. So who has no answer connects
 * once more, by itself, and hears why.
 */

import { connect } from 'node:tls'
import { type RedisAddress, type RedisOptions, type RedisTls, redisTlsOptions } from '@webloom/core'
import type { Refusal } from './refusal.ts'

/** As OpenSSL and Node write it. Before a handshake is over nothing else is told. */
const TLS_REFUSALS: readonly {
  readonly pattern: RegExp
  readonly words: (setting: string) => string
  readonly params?: readonly string[]
}[] = [
  {
    pattern: /self[- ]signed certificate|unable to (?:verify the first|get (?:local )?issuer) certificate/i,
    words: (setting) =>
      `its certificate is signed by nobody whom this machine trusts. Name the file of who signed it: ?ssl_ca_certs=/path/ca.pem behind ${setting}, or ssl_ca_certs in REDIS_PARAMS`,
    params: ['ssl_ca_certs=/path/ca.pem'],
  },
  {
    pattern: /does not match certificate's altnames/,
    words: (setting) =>
      `its certificate is of another host than ${setting} names. Name the host as the certificate does; or, to believe whatever host it names, add ?ssl_check_hostname=false`,
  },
  {
    pattern: /certificate has expired|certificate is not yet valid/,
    words: () =>
      'its certificate is of another time than this machine’s clock. Renew it there, or set the clock',
  },
  {
    pattern: /alert (?:number 116|certificate required)|peer did not return a certificate/i,
    words: (setting) =>
      `it asks for a certificate of ours. Name it with its key: ?ssl_certfile=/path/own.pem&ssl_keyfile=/path/own.key behind ${setting}, or by these names in REDIS_PARAMS`,
    params: ['ssl_certfile=/path/own.pem', 'ssl_keyfile=/path/own.key'],
  },
  {
    pattern: /alert (?:unknown ca|bad certificate|certificate (?:unknown|expired|revoked))/i,
    words: (setting) =>
      `it does not believe our own certificate, which ssl_certfile names in ${setting} or REDIS_PARAMS. It must be signed by one that its tls-ca-cert-file has`,
  },
  {
    pattern: /wrong version number|packet length too long|record layer failure/i,
    words: (setting) => `it speaks no TLS there. Write redis:// in ${setting}, or name its tls-port`,
  },
  {
    pattern: /key values mismatch/,
    words: () => 'the key that ssl_keyfile names is not that of the certificate in ssl_certfile',
  },
]

/** Returns whether TLS failed for a reason that no other try will mend. */
export function isTlsRefusal({ message }: Error): boolean {
  return TLS_REFUSALS.some(({ pattern }) => pattern.test(message))
}

/** Returns why TLS failed, and the parameter to set; undefined for what is no matter of certificates. */
export function tlsRefusal(message: string, setting: string): Refusal | undefined {
  const found = TLS_REFUSALS.find(({ pattern }) => pattern.test(message))
  if (!found) return undefined
  const { words, params = [] } = found
  return { why: `${words(setting)} (TLS says: ${message.trim()})`, params }
}

/**
 * Resolves to why the server, or the first Sentinel or node, has no TLS with us, which no other try will mend; undefined when it has, or it
 * is not known. Sends no password.
 */
export async function tlsRefusalAt(options: RedisOptions, timeoutMs: number): Promise<Error | undefined> {
  const { host, port, sentinels, nodes } = options
  const tls = sentinels ? options.sentinelTLS : options.tls
  const server = host !== undefined && port !== undefined ? [{ host, port }] : []
  const [first] = sentinels ?? nodes ?? server
  if (!tls || !first) return undefined
  // A key of another certificate is thrown before there is a connection.
  const error = await tlsErrorAt(first, tls, timeoutMs).catch((thrown: Error) => thrown)
  return error && isTlsRefusal(error) ? error : undefined
}

/** Whoever is let in has an answer to PING. Who is reset with it writes nothing the next time, and so hears a refusal for certain. */
async function tlsErrorAt(
  address: RedisAddress,
  tls: RedisTls,
  timeoutMs: number,
): Promise<Error | undefined> {
  const error = await heardAt(address, tls, { timeoutMs, written: 'PING\r\n' })
  return error && IS_RESET.has(error.code) ? heardAt(address, tls, { timeoutMs }) : error
}

const IS_RESET = new Set<string | undefined>(['ECONNRESET', 'EPIPE'])

function heardAt(
  address: RedisAddress,
  tls: RedisTls,
  { timeoutMs, written }: { readonly timeoutMs: number; readonly written?: string },
): Promise<NodeJS.ErrnoException | undefined> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | undefined>()
  const socket = connect({ ...redisTlsOptions(tls), ...address }, () => written && socket.write(written))
  socket
    .setTimeout(timeoutMs, () => resolve(undefined))
    .on('data', () => resolve(undefined))
    .on('close', () => resolve(undefined))
    .on('error', resolve)
    // A command that is done does not wait for it.
    .unref()
  return promise.finally(() => socket.destroy())
}
