/**
 * The npm registry as it will be once our packages are in it: ours as `npm pack` makes them, and whatever else is asked for at
 * the registry that this machine uses. With it a test types what a new user types, `npm create webloom@latest`.
 */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { npmOrThrow } from '../../scripts/release/npm.ts'
import type { Tarball } from '../../scripts/release/pack.ts'
import { packedOnce } from './packed-once.ts'

const ROOT = join(import.meta.dirname, '../..')

/** npm keeps what it got, by its address: the next run may have the same port, and other packages. */
const FRESH = { 'cache-control': 'no-store' }

/** Serves our packed packages: `await using registry = await startPackedRegistry()`. */
export async function startPackedRegistry(): Promise<PackedRegistry> {
  const tarballs = await packedOnce()
  const upstream = npmOrThrow(['config', 'get', 'registry'], ROOT).trim().replace(/\/$/, '')
  const registry = new PackedRegistry(tarballs, upstream)
  await registry.listen()
  return registry
}

export class PackedRegistry implements AsyncDisposable {
  readonly #tarballs: readonly Tarball[]
  readonly #upstream: string
  readonly #server = createServer((request, response) => this.#answer(request, response))

  constructor(tarballs: readonly Tarball[], upstream: string) {
    this.#tarballs = tarballs
    this.#upstream = upstream
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(request.url ?? '/', this.url).pathname).slice(1)
    const tarball = this.#tarballs.find((one) => path === `-/${basename(one.path)}`)
    const found = this.#tarballs.find(({ name }) => name === path)
    if (tarball)
      response
        .writeHead(200, { 'content-type': 'application/octet-stream', ...FRESH })
        .end(readFileSync(tarball.path))
    else if (found)
      response
        .writeHead(200, { 'content-type': 'application/json', ...FRESH })
        .end(JSON.stringify(this.#packument(found)))
    else response.writeHead(302, { location: `${this.#upstream}${request.url}` }).end()
  }

  #packument({ name, version, manifest, path }: Tarball) {
    const body = readFileSync(path)
    const dist = {
      tarball: `${this.url}-/${basename(path)}`,
      shasum: createHash('sha1').update(body).digest('hex'),
      integrity: `sha512-${createHash('sha512').update(body).digest('base64')}`,
    }
    return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
  }
}
