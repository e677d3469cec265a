/** package-lock.json, read as npm does. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LockEntry {
  readonly version?: string
  readonly link?: boolean
  readonly resolved?: string
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly os?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** By place: `packages/core`, `node_modules/undici`, `node_modules/a/node_modules/b`. */
export type LockEntries = Readonly<Record<string, LockEntry>>

export function lockEntries(root: string): LockEntries {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
}

/** Where the package at `from` finds `name`: in the nearest node_modules upwards. */
export function placeOf(entries: LockEntries, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(at.lastIndexOf('/'), 0))) {
    const place = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`
    if (entries[place]) return entries[place].link ? entries[place].resolved : place
    if (at === '') return undefined
  }
}

/** All that installing a package brings, itself included; of native parts each platform's, though a machine gets one. */
export function productionPlaces(entries: LockEntries, name: string): Set<string> {
  const found = new Set<string>()
  const waiting = [placeOf(entries, '', name)!]
  for (const place of waiting) {
    if (found.has(place)) continue
    found.add(place)
    const { dependencies = {}, optionalDependencies = {} } = entries[place]!
    for (const wanted of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const next = placeOf(entries, place, wanted)
      if (next) waiting.push(next)
    }
  }
  return found
}
