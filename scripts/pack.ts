/**
 * Packs each public package into `packed/`, as the registry would get it.
 *
 *     npm run pack    builds first: what is not built would be missing in it, and nothing would say so
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { npmOrThrow } from './release/npm.ts'
import { publicPackages } from './release/public-packages.ts'

const ROOT = join(import.meta.dirname, '..')

mkdirSync(join(ROOT, 'packed'), { recursive: true })
const packages = publicPackages(ROOT)
const workspaces = packages.flatMap(({ folder }) => ['--workspace', folder])
npmOrThrow(['pack', '--silent', '--pack-destination', 'packed', ...workspaces], ROOT)
console.log(
  `${packages.length} packages are in packed/. In a project of yours:  npm install ${join(ROOT, 'packed')}/*.tgz`,
)
