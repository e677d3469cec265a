/** What installing webloom brings along: no more than is stated here, and nothing that only some need. */

import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { publicPackages } from '../../scripts/release/public-packages.ts'
import { lockEntries, productionPlaces } from './lock.ts'

const ROOT = join(import.meta.dirname, '../..')

/**
 * Bounds, a little above what is: raise one in the pull request that explains what the new weight brings.
 *
 * Of the first 8.8 MB of our own are 1.8 MB JavaScript, 1.4 MB its types, 3.3 MB sources, and 2 MB maps that lead to these, so that an editor and
 * a stack show TypeScript. No map holds the sources once more. The largest are the queue and core (1.7 MB each). Dashboard and browser
 * are not among them. Filters in parts, fuller scripts of shards and budgets in status brought 0.1 MB, and
 * packed tags, maps of what passes and stripped spiders on disk 0.1; alerts that are tried, budgets that are renewed, and clearer refusals 0.1; what a cluster, a Sentinel
 * and a schedule refuse, and prices in more places, 0.3; lost crawls,
 * workers that are silent and nodes that lock a crawl out 0.2; orders, paces and bounds of broad crawls 0.1, which makes 12.0.
 */
const MOST = { directDependencies: 12, foreignPackages: 114, ownMegabytes: 12.2, foreignMegabytes: 38 }

const entries = lockEntries(ROOT)
const places = productionPlaces(entries, 'webloom')
const foreign = [...places].filter(
  (place) => place.startsWith('node_modules/') || place.includes('/node_modules/'),
)

test('webloom names and brings no more packages than stated', () => {
  const names = Object.keys(entries['packages/webloom']!.dependencies ?? {})
  expect(names.length).toBeLessThanOrEqual(MOST.directDependencies)
  expect(foreign.length).toBeLessThanOrEqual(MOST.foreignPackages)
})

test('webloom with all that it brings unpacks to no more than stated', () => {
  const brought = publicPackages(ROOT).filter(({ folder }) => places.has(folder))
  expect(brought.length).toBeGreaterThan(5)
  const own = brought.flatMap(({ folder }) => [join(folder, 'dist'), join(folder, 'src')])
  expect(megabytesOf(own)).toBeLessThanOrEqual(MOST.ownMegabytes)
  expect(megabytesOf(foreign)).toBeLessThanOrEqual(MOST.foreignMegabytes)
})

test('browser, PostgreSQL and cloud clients are nothing that webloom brings', () => {
  const names = [...places].map((place) => place.slice(place.lastIndexOf('node_modules/')))
  const wanted = /^node_modules\/(pg|playwright.*|puppeteer.*|chromium.*|@aws-sdk\/.*|@google-cloud\/.*)$/
  expect(names.filter((name) => wanted.test(name))).toEqual([])
})

test('a peer of a public package is an optional one', () => {
  for (const { folder } of publicPackages(ROOT)) {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = entries[folder]!
    const asked = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional)
    expect(asked, folder).toEqual([])
  }
})

test('no public package, and nothing it brings, runs a script when it is installed, but for a native part that may be missing', () => {
  const running = [...places].filter((place) => entries[place]!.hasInstallScript && !entries[place]!.optional)
  expect(running).toEqual([])
})

function megabytesOf(folders: readonly string[]): number {
  const files = folders.flatMap((folder) =>
    globSync(`${folder}/**`, { cwd: ROOT, exclude: ['**/*.test.ts', '**/*.tsbuildinfo'] }),
  )
  const bytes = [...new Set(files)]
    .map((path) => statSync(join(ROOT, path)))
    .filter((stat) => stat.isFile())
    .reduce((sum, { size }) => sum + size, 0)
  return bytes / 1e6
}
