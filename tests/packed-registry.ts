/**
 * The npm registry as it will be once our packages are in it: ours as `npm pack` makes them, and whatever else is asked for at
 * the registry that this machine uses. With it a test types what a new user types, `npm create webloom@latest`.
 */

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runProcess, type TempDir, tempDir } from '@webloom/testkit'

const ROOT = join(import.meta.dirname, '..')
const PACKAGES = readdirSync(join(ROOT, 'packages')).filter((name) => name !== 'testkit')

/** npm keeps what it got, by its address: the next run may have the same port, and other packages. */
const FRESH = { 'cache-control': 'no-store' }

interface PackedPackage {
  readonly manifest: { readonly name: string; readonly version: string }
  readonly file: string
  readonly body: Buffer
}

/** Serves our packed packages: `await using registry = await startPackedRegistry()`. */
export async function startPackedRegistry(): Promise<PackedRegistry> {
  const folder = await tempDir()
  const packages = await packedPackages(folder)
  const upstream = (await npm(['config', 'get', 'registry'], ROOT)).trim().replace(/\/$/, '')
  const registry = new PackedRegistry(folder, packages, upstream)
  await registry.listen()
  return registry
}

export class PackedRegistry implements AsyncDisposable {
  readonly #folder: TempDir
  readonly #packages: readonly PackedPackage[]
  readonly #upstream: string
  readonly #server = createServer((request, response) => this.#answer(request, response))

  constructor(folder: TempDir, packages: readonly PackedPackage[], upstream: string) {
    this.#folder = folder
    this.#packages = packages
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
    await this.#folder.remove()
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(request.url ?? '/', this.url).pathname).slice(1)
    const tarball = this.#packages.find(({ file }) => path === `-/${file}`)
    const found = this.#packages.find(({ manifest }) => manifest.name === path)
    if (tarball)
      response.writeHead(200, { 'content-type': 'application/octet-stream', ...FRESH }).end(tarball.body)
    else if (found)
      response
        .writeHead(200, { 'content-type': 'application/json', ...FRESH })
        .end(JSON.stringify(this.#packument(found)))
    else response.writeHead(302, { location: `${this.#upstream}${request.url}` }).end()
  }

  #packument({ manifest, file, body }: PackedPackage) {
    const { name, version } = manifest
    const dist = {
      tarball: `${this.url}-/${file}`,
      shasum: createHash('sha1').update(body).digest('hex'),
      integrity: `sha512-${createHash('sha512').update(body).digest('base64')}`,
    }
    return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
  }
}

async function packedPackages(folder: TempDir): Promise<readonly PackedPackage[]> {
  const workspaces = PACKAGES.flatMap((name) => ['--workspace', `packages/${name}`])
  await npm(['pack', '--pack-destination', folder.path, ...workspaces], ROOT)
  return PACKAGES.map((name) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'))
    const file = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
    return { manifest, file, body: readFileSync(folder.join(file)) }
  })
}

async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await runProcess('npm', args, { cwd, timeoutMs: 170_000 })
  if (code !== 0) throw new Error(`npm ${args[0]} ended with ${code}: ${stderr}`)
  return stdout
}
