import { aptGetAsRoot, lastLines } from '../processes/apt-get.ts'
import { findInPath } from '../processes/find-in-path.ts'
import { engineSays, enginesInPath, findRedis, REDIS_IMAGES, type RedisProgram } from './redis-program.ts'

/**
 * Sees to it that `startRedis` works on this machine: takes the `redis-server` in PATH, else installs Debian's package (as
 * root, or where sudo asks for no password), else takes an image that is here, else pulls one: a container takes a second
 * to start, and tests start hundreds of servers. No service is started. When nothing helps it throws, with what was tried
 * and what to do.
 */
export async function ensureRedisServer(): Promise<RedisProgram> {
  const path = findInPath('redis-server')
  if (path !== undefined) return { kind: 'binary', path }
  const failures: string[] = []
  for (const way of [installPackage, pullImage]) {
    failures.push(...(await way()))
    const found = await findRedis()
    if (found) return found
  }
  throw new RedisMissing(failures)
}

/** Neither a `redis-server` nor an image of it is here. */
export class RedisMissing extends Error {
  constructor(failures: readonly string[] = []) {
    super(
      [
        'Redis is missing: no redis-server in PATH, and no container engine with an image of it.',
        ...failures.map((failure) => `  ${failure}`),
        'To get it: sudo apt-get install redis-server (Debian, Ubuntu), brew install redis (macOS), or start Docker or Podman and run the tests again.',
      ].join('\n'),
    )
    this.name = 'RedisMissing'
  }
}

/** Resolves with why it did not work; with nothing when it did. */
function installPackage(): Promise<string[]> {
  return aptGetAsRoot(INSTALL_SCRIPT, INSTALL_TIMEOUT_MS)
}

async function pullImage(): Promise<string[]> {
  const failures: string[] = []
  for (const engine of enginesInPath()) {
    for (const image of REDIS_IMAGES) {
      const { code, stderr } = await engineSays(engine, 'pull', '--quiet', image)
      if (code === 0) return []
      failures.push(`${engine} pull ${image}: ${lastLines(stderr)}`)
    }
  }
  return failures.length > 0 ? failures : ['docker, podman: not in PATH']
}

/*
 * Two test runs may come here at once: the second waits for the first and then finds the binary.
 *
 * A package may be installed while its binary is missing, hence --reinstall; /usr/bin/redis-server is a link to a file of
 * redis-tools, hence both. Debian starts a service when it is installed unless policy-rc.d forbids it, and at the
 * next boot unless it is disabled; a service that the user had before is left as it was.
 */
const INSTALL_SCRIPT = `
set -e
exec 9>/run/webloom-redis-install.lock
flock -w 600 9
if command -v redis-server >/dev/null; then exit 0; fi
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  trap 'exit 1' INT TERM HUP
  printf '#!/bin/sh\\nexit 101\\n' >$policy
  chmod 755 $policy
fi
if ! dpkg -s redis-server >/dev/null 2>&1; then fresh=yes; fi
export DEBIAN_FRONTEND=noninteractive
timeout 300 apt-get update -qq
timeout 300 apt-get install -qq --no-install-recommends --reinstall -o DPkg::Lock::Timeout=120 redis-server redis-tools
if [ "$fresh" = yes ] && [ -d /run/systemd/system ]; then systemctl disable redis-server; fi
command -v redis-server >/dev/null # What cannot be downloaded again is not an error to apt-get.
`

/** The script's own limits, which let it tidy up, are shorter together. */
const INSTALL_TIMEOUT_MS = 1_300_000
