/**
 * The spiders of this folder's project, as their files are written: nothing of them is run, as one who presses Tab has asked
 * for nothing yet, and waits. So a name that is made by code is missing, and so are spiders of SPIDER_LOADER_CLASS.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { findConfig } from '../loading/config.ts'
import { scriptsBelow } from '../loading/spider-loader.ts'
import type { Candidates } from './candidates.ts'

/** Of more files one would wait for. */
const FILES_MAX = 2000

/** Their names, and files that may hold spiders. */
export function spiderCandidates(typed: string): Candidates {
  const names = spiderNames(process.cwd()).map((name) => [name, 'spider'] as const)
  return { values: [...names, ...scriptsHere(typed)], files: false }
}

/** The names of the project's spiders that can be read from their files, sorted. */
export function spiderNames(cwd: string): string[] {
  const config = findConfig(cwd)
  if (config === undefined) return []
  const sources = sourcesIn(readFileSync(config, 'utf8')).map((source) => resolve(dirname(config), source))
  const files = sources.flatMap(scriptsOf).slice(0, FILES_MAX)
  return [...new Set(files.flatMap((file) => namesIn(readFileSync(file, 'utf8'))))].sort()
}

const SPIDERS = /\bspiders\s*:\s*(?:\[([^\]]*)\]|(['"`][^'"`]*['"`]))/
const TEXT = /(['"`])([^'"`\n]+)\1/g

/** What a config file names as `spiders`. */
function sourcesIn(config: string): string[] {
  const found = SPIDERS.exec(config)
  return found ? [...(found[1] ?? found[2]!).matchAll(TEXT)].map(([, , source]) => source!) : ['spiders']
}

function scriptsOf(source: string): string[] {
  const stats = statSync(source, { throwIfNoEntry: false })
  if (!stats) return []
  return stats.isDirectory() ? scriptsBelow(source) : [source]
}

/** A field of a class: `name = 'quotes'`, with or without its type. */
const NAME = /^[ \t]+(?:(?:override|readonly|public)\s+)*name\s*(?::\s*string\s*)?=\s*(['"`])([^'"`\n$]+)\1/gm

function namesIn(script: string): string[] {
  return [...script.matchAll(NAME)].map(([, , name]) => name!)
}

/** Scripts and folders beside what is typed. */
function scriptsHere(typed: string): (readonly [path: string])[] {
  const folder = typed.includes('/') ? typed.slice(0, typed.lastIndexOf('/') + 1) : ''
  return entriesOf(folder)
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .flatMap((entry) => {
      if (entry.isDirectory()) return [[`${folder}${entry.name}/`] as const]
      const isScript = /\.[cm]?[jt]s$/.test(entry.name) && !/\.(test|spec|d|config)\.\w+$/.test(entry.name)
      return isScript ? [[join(folder, entry.name)] as const] : []
    })
}

function entriesOf(folder: string) {
  try {
    return readdirSync(resolve(folder), { withFileTypes: true })
  } catch {
    return []
  }
}
