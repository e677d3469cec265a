import { homedir } from 'node:os'
import { join } from 'node:path'
import { aptGet } from '../processes/apt-get.ts'
import { findInPath, isExecutable } from '../processes/find-in-path.ts'

/** Paths of the two programs. */
export interface PrometheusPrograms {
  readonly prometheus: string
  readonly promtool: string
}

/**
 * Sees to it that `startPrometheus` and promtool work on this machine: takes those in PATH, else downloads Debian's package
 * `prometheus` and unpacks it in the user's cache, which needs no rights and starts no service. When nothing helps it throws, with
 * what was tried and what to do.
 */
export async function ensurePrometheus(): Promise<PrometheusPrograms> {
  const here = findPrometheus()
  if (here) return here
  const failures = await aptGet(['sh', '-c', UNPACK_SCRIPT, 'sh', unpackedFolder()], UNPACK_TIMEOUT_MS)
  const found = findPrometheus()
  if (found) return found
  throw new PrometheusMissing(failures)
}

function findPrometheus(): PrometheusPrograms | undefined {
  const find = (name: string) => {
    const unpacked = join(unpackedFolder(), 'root/usr/bin', name)
    return findInPath(name) ?? (isExecutable(unpacked) ? unpacked : undefined)
  }
  const [prometheus, promtool] = [find('prometheus'), find('promtool')]
  return prometheus !== undefined && promtool !== undefined ? { prometheus, promtool } : undefined
}

/** No Prometheus is here, and none could be got. */
export class PrometheusMissing extends Error {
  constructor(failures: readonly string[] = []) {
    super(
      [
        'Prometheus is missing: prometheus and promtool are not in PATH.',
        ...failures.map((failure) => `  ${failure}`),
        'To get it: sudo apt-get install prometheus (Debian, Ubuntu), brew install prometheus (macOS), and run the tests again.',
      ].join('\n'),
    )
    this.name = 'PrometheusMissing'
  }
}

function unpackedFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'webloom-testkit/prometheus')
}

/*
 * apt-get with lists of its own, as those of the system may be old and only root can renew them. Both programs are linked
 * statically but for the C library, so none of the package's dependencies is wanted. A second test run waits for the first.
 */
const UNPACK_SCRIPT = `
set -e
mkdir -p "$1"
cd "$1"
exec 9>lock
flock -w 300 9
if [ -x root/usr/bin/promtool ]; then exit 0; fi
rm -rf lists archives root fresh
mkdir -p lists/partial archives/partial
home=$1
apt() { timeout 250 apt-get -o Dir::State::Lists="$home/lists" -o Dir::Cache="$home" -o Debug::NoLocking=true -o APT::Sandbox::User= "$@"; }
apt update -qq
(cd archives && apt download -qq prometheus)
dpkg -x archives/prometheus_*.deb fresh
mv fresh root
rm -rf lists archives *.bin
`

/** The script's own limits are shorter together. */
const UNPACK_TIMEOUT_MS = 900_000
