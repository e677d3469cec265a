/**
 * How long a new user waits, from `npm create webloom@latest` to items.
 *
 *     npm run build && node --conditions=webloom-source benchmarks/create-bench.ts [--rounds 3] [--template quotes]
 *
 * Our packages come packed from a registry on loopback, all others from the registry of this machine. Cold: npm's cache is empty,
 * so the time is mostly that of the network. Warm: the cache is that of the cold run. Ends with 1 when a round took longer than a minute.
 */
import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { runProcess, tempDir } from '../packages/testkit/src/index.ts'
import { startPackedRegistry } from '../tests/packages/packed-registry.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, template: { type: 'string', default: 'quotes' } },
})
const SECONDS_MAX = 60

interface Measured {
  readonly create: number
  readonly install: number
  readonly start: number
  readonly items: number
}

await using registry = await startPackedRegistry()
console.log(`${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.versions.node}`)
console.log('cache   create  install  npm start    all   items')
for (let round = 0; round < Number(values.rounds); round++) {
  await using cache = await tempDir()
  for (const kind of ['cold', 'warm']) show(kind, await measure(cache.path))
}

async function measure(cache: string): Promise<Measured> {
  await using folder = await tempDir()
  const project = folder.join('my-crawler')
  const npm = async (cwd: string, ...args: readonly string[]) => {
    const startMs = performance.now()
    const env = { npm_config_registry: registry.url, npm_config_cache: cache }
    const { code, stderr } = await runProcess('npm', args, { cwd, env, timeoutMs: 600_000 })
    if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code}: ${stderr}`)
    return (performance.now() - startMs) / 1000
  }
  const create = await npm(
    folder.path,
    ...['create', 'webloom@latest', 'my-crawler', '--yes', `--template=${values.template}`],
  )
  const install = await npm(project, 'install')
  const start = await npm(project, 'start')
  const items = readFileSync(`${project}/items.jsonl`, 'utf8').trim().split('\n').length
  return { create, install, start, items }
}

function show(kind: string, { create, install, start, items }: Measured): void {
  const all = create + install + start
  const cells = [create, install, start, all].map((seconds) => `${seconds.toFixed(1)} s`.padStart(9))
  console.log(`${kind}${cells.join('')}${String(items).padStart(8)}`)
  if (all > SECONDS_MAX) process.exitCode = 1
}
