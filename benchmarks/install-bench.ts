/**
 * How long `npm install webloom` takes, and what it brings: our packages packed, installed into an empty folder, first with an empty
 * cache of npm, then with a warm one.
 *
 *     npm run build && node benchmarks/install-bench.ts [--rounds 3]
 *
 * A cold install is mostly the registry and the way to it; a warm one asks the registry nothing (`--prefer-offline`).
 */

import { globSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { npmOrThrow } from '../scripts/release/npm.ts'
import { packInto } from '../scripts/release/pack.ts'
import { type PublicPackage, publicPackages } from '../scripts/release/public-packages.ts'

const ROOT = join(import.meta.dirname, '..')
const HEAVIEST_SHOWN = 10

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } })
const folder = mkdtempSync(join(tmpdir(), 'webloom-install-'))
const project = join(folder, 'project')
try {
  packInto(folder, ROOT, broughtBy('webloom'))
  const cold = installSeconds()
  const warm = Array.from({ length: Number(values.rounds) }, installSeconds).sort((a, b) => a - b)
  console.log(`cold cache   ${cold.toFixed(1)} s, once`)
  const median = warm[Math.floor(warm.length / 2)]!
  console.log(
    `warm cache   ${median.toFixed(1)} s, median of ${warm.length} (${warm.map((s) => s.toFixed(1))})`,
  )
  reportWeight()
} finally {
  rmSync(folder, { recursive: true })
}

/** The package, and those of ours that it depends on. */
function broughtBy(name: string): PublicPackage[] {
  const all = publicPackages(ROOT)
  const wanted = new Set([name])
  // Each stands after those it depends on.
  for (const { name, manifest } of all.toReversed())
    if (wanted.has(name)) for (const other of Object.keys(manifest.dependencies ?? {})) wanted.add(other)
  return all.filter(({ name }) => wanted.has(name))
}

/** Seconds of an install into a new folder; the cache is kept between calls. */
function installSeconds(): number {
  rmSync(project, { recursive: true, force: true })
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{}')
  const tarballs = globSync('*.tgz', { cwd: folder }).map((name) => `../${name}`)
  const cache = ['--cache', join(folder, 'cache'), '--prefer-offline']
  const start = performance.now()
  npmOrThrow(['install', ...cache, '--no-audit', '--no-fund', ...tarballs], project)
  return (performance.now() - start) / 1000
}

/** Megabytes of what is installed, the heaviest first; what a package has in a node_modules of its own counts as its. */
function reportWeight(): void {
  const bytes = new Map<string, number>()
  for (const path of globSync('node_modules/**', { cwd: project })) {
    const stat = statSync(join(project, path))
    const [name] = /(?<=^node_modules\/)(?:@[^/]+\/)?[^/]+/.exec(path.replaceAll('\\', '/')) ?? []
    if (name && stat.isFile()) bytes.set(name, (bytes.get(name) ?? 0) + stat.size)
  }
  const isOurs = (name: string) => name === 'webloom' || name.startsWith('@webloom/')
  const sum = (ours: boolean) =>
    [...bytes].reduce((total, [name, size]) => (isOurs(name) === ours ? total + size : total), 0) / 1e6
  console.log(`installed    ${sum(true).toFixed(1)} MB of ours, ${sum(false).toFixed(1)} MB of others`)
  for (const [name, size] of [...bytes].sort(([, a], [, b]) => b - a).slice(0, HEAVIEST_SHOWN)) {
    console.log(`${(size / 1e6).toFixed(1).padStart(6)} MB  ${name}`)
  }
}
