/** What `npm pack` makes of our packages, once for all files of tests: it keeps a core busy for five seconds. */

import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packInto, type Tarball } from '../../scripts/release/pack.ts'
import { publicPackages } from '../../scripts/release/public-packages.ts'

const ROOT = join(import.meta.dirname, '../..')
const CACHE = join(ROOT, 'node_modules/.cache/webloom-packed')
const NAMES = 'names.json'
/** One that packs is waited for so long; it may have been killed. */
const PACKING_MS_MAX = 60_000

/** All public packages as the registry would get them. They must be built. */
export async function packedOnce(): Promise<Tarball[]> {
  const folder = join(CACHE, stamp())
  if (!existsSync(folder)) await pack(folder)
  const names: Record<string, string> = JSON.parse(readFileSync(join(folder, NAMES), 'utf8'))
  return publicPackages(ROOT).map((one) => ({ ...one, path: join(folder, names[one.name]!) }))
}

async function pack(folder: string): Promise<void> {
  const own = `${folder}-packing`
  mkdirSync(CACHE, { recursive: true })
  try {
    mkdirSync(own)
  } catch {
    const until = performance.now() + PACKING_MS_MAX
    // Waits: another file is packing.
    while (!existsSync(folder) && performance.now() < until) await sleep(100)
    if (existsSync(folder)) return
  }
  const names = packInto(own, ROOT).map(({ name, path }) => [name, basename(path)])
  writeFileSync(join(own, NAMES), JSON.stringify(Object.fromEntries(names)))
  renameSync(own, folder)
  // Those of earlier builds.
  for (const name of readdirSync(CACHE).filter((name) => !name.startsWith(basename(folder))))
    rmSync(join(CACHE, name), { recursive: true, force: true })
}

/** Another one as soon as a file of a package is another one. */
function stamp(): string {
  const hash = createHash('sha256')
  for (const { folder } of publicPackages(ROOT))
    for (const path of globSync(`${folder}/**`, { cwd: ROOT, exclude: ['**/node_modules/**'] }).sort()) {
      const { size, mtimeMs } = statSync(join(ROOT, path))
      hash.update(`${path} ${size} ${mtimeMs}\n`)
    }
  return hash.digest('hex').slice(0, 16)
}
