/**
 * Packs each public package into `packed/`, as the registry would get it.
 *
 *     npm run pack    builds first: what is not built would be missing in it, and nothing would say so
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { packInto } from './release/pack.ts'

const ROOT = join(import.meta.dirname, '..')

const folder = join(ROOT, 'packed')
mkdirSync(folder, { recursive: true })
const packages = packInto(folder, ROOT)
console.log(`${packages.length} packages are in packed/. In a project of yours:  npm install ${folder}/*.tgz`)
