/**
 * Packs each public package into `packed/`, as the registry would get it. Build first.
 *
 *     npm run build && npm run pack
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { npmOrThrow } from './release/npm.ts'
import { publicPackages } from './release/public-packages.ts'

const ROOT = join(import.meta.dirname, '..')

mkdirSync(join(ROOT, 'packed'), { recursive: true })
const workspaces = publicPackages(ROOT).flatMap(({ folder }) => ['--workspace', folder])
npmOrThrow(['pack', '--silent', '--pack-destination', 'packed', ...workspaces], ROOT)
