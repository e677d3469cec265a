/** The types of every public package, as a user's compiler finds them: two of them are looked at in tests/packages/packed-files.test.ts. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { publicPackages } from '../../scripts/release/public-packages.ts'
import { type PackedPackage, packedPackages, ROOT, typeProblems } from '../packages/packed-packages.ts'

let packed: Map<string, PackedPackage>
beforeAll(async () => {
  packed = new Map((await packedPackages()).map((one) => [one.name, one]))
})

const exportsOf = (folder: string) =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')).exports
const [imported, run] = [true, false].map((isImported) =>
  publicPackages(ROOT)
    .filter(({ folder }) => (exportsOf(folder) !== undefined) === isImported)
    .map(({ name }) => name),
)

test.each(imported!)('%s has types that say what each import gets', async (name) => {
  expect(await typeProblems(packed.get(name)!)).toEqual([])
})

test.each(run!)('%s is run, and nothing can be imported of it: it has no types', (name) => {
  const types = [...packed.get(name)!.paths].filter((path) => /^dist\/.*\.d\.ts$/.test(path))
  expect(types).toEqual([])
})
