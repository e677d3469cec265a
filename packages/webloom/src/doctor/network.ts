/** Names, ports and proxies. Nothing is sent beyond this machine. */

import { getServers } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { createServer } from 'node:net'
import { InvalidUrl, type Settings, withoutUrlSecrets } from '@webloom/core'
import { EnvironmentProxies } from '@webloom/downloader'
import type { CheckResult } from './check-result.ts'

/** `webloom bench` and the examples serve a site there. */
export async function checkPort(): Promise<CheckResult> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const server = createServer().once('error', reject).listen(0, '127.0.0.1', resolve)
  try {
    await promise
    return { check: 'ports', state: 'ok', found: 'a port of 127.0.0.1 can be opened' }
  } catch (error) {
    const found = `no port of 127.0.0.1 can be opened: ${(error as Error).message}`
    return { check: 'ports', state: 'fail', found, type: 'ip address show lo' }
  } finally {
    server.close()
  }
}

export async function checkNames(settings: Settings): Promise<CheckResult> {
  const own = settings.getList('DNS_SERVERS')
  const servers = own.length > 0 ? own : getServers()
  try {
    const { address } = await lookup('localhost')
    const asked = servers.length > 0 ? servers.join(', ') : 'none is known'
    return { check: 'names', state: 'ok', found: `localhost is ${address}; name servers: ${asked}` }
  } catch (error) {
    return {
      check: 'names',
      state: 'fail',
      found: `localhost has no address: ${(error as Error).message}`,
      type: "echo '127.0.0.1 localhost' | sudo tee -a /etc/hosts",
    }
  }
}

/** Checks the proxies of the environment, which one forgets. */
export function checkProxies(settings: Settings, env: NodeJS.ProcessEnv = process.env): CheckResult {
  const check = 'proxies'
  if (!settings.getBool('HTTPPROXY_ENABLED'))
    return { check, state: 'info', found: 'HTTPPROXY_ENABLED is off: none is used' }
  try {
    const proxies = new EnvironmentProxies(env, settings.get('HTTPPROXY_AUTH_ENCODING'))
    const used = ['http', 'https'].flatMap((scheme) => {
      const proxy = proxies.proxyFor(`${scheme}://site.example/`)
      return proxy ? [`${scheme} by ${withoutUrlSecrets(proxy.url)}`] : []
    })
    if (used.length === 0) return { check, state: 'ok', found: 'the environment names none' }
    const found = `the environment sends requests through a proxy: ${used.join(', ')}`
    return { check, state: 'info', found, type: 'unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY' }
  } catch (error) {
    if (!(error instanceof InvalidUrl)) throw error
    const found = `http_proxy or https_proxy of the environment cannot be used: ${error.message}`
    return { check, state: 'fail', found, type: 'export https_proxy=http://proxy.example:3128' }
  }
}
