/** Finds spiders: in one file for `runspider`, in a project for `crawl` and `list`. */

import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { didYouMean, UsageError, type WrittenSettings } from '@webloom/core'
import { createSpider, type SpiderClass } from '@webloom/spider'
import { visible } from '../terminal/sanitize.ts'
import type { LoadedConfig, SpiderSource } from './config.ts'
import { importProjectFile } from './import-project-file.ts'
import { ownSpiderLoader, type SpiderLoader } from './own-spider-loader.ts'
import { shownPath } from './source-place.ts'
import { isSpiderClass } from './spider-class.ts'
import { noteTyped } from './typed-spider.ts'

/** The spider of a file: its default export, or the only exported subclass of Spider. */
export async function loadSpiderFile(path: string): Promise<SpiderClass> {
  const file = resolve(path)
  checkFile(file)
  const exported = await importProjectFile(file, 'WL_SPIDER_LOAD')
  const classes = isSpiderClass(exported.default) ? [exported.default] : spiderClasses(exported)
  if (classes.length === 1) {
    noteTyped(classes[0]!, path)
    return classes[0]!
  }
  throw new UsageError(
    'WL_SPIDER_LOAD',
    classes.length === 0 ? noSpider(file, exported) : severalSpiders(file, exported),
  )
}

/** Returns whether what stands for a spider is the path of a file, and not a name. */
export function isSpiderFile(text: string): boolean {
  return /\.[cm]?[jt]s$/.test(text)
}

/** Returns how a command that was given a spider's name does without a project: by the spider's file, if this folder has it. */
export function fileInPlaceOf(named: string): string {
  const file = `${named}.ts`
  const known = existsSync(file)
    ? `: ${shownPath(file)} in place of ${visible(named)}`
    : `; ${noFile(resolve(file))}`
  return `A command that takes a spider's name takes its file as well${known}`
}

const SCRIPT = /\.m?[jt]s$/

function checkFile(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw new UsageError('WL_SPIDER_LOAD', noFile(file))
  if (stats.isDirectory())
    throw new UsageError('WL_SPIDER_LOAD', `${shownPath(file)} is a folder; give a file.${filesOf(file)}`)
  if (!isSpiderFile(file))
    throw new UsageError('WL_SPIDER_LOAD', `${shownPath(file)} is not a TypeScript or JavaScript file`)
}

function noFile(file: string): string {
  const folder = dirname(file)
  const hint = existsSync(folder)
    ? visible(didYouMean(basename(file), scriptsIn(folder))) || filesOf(folder)
    : ''
  return `there is no file ${shownPath(file)}.${hint}`
}

function filesOf(folder: string): string {
  const names = scriptsIn(folder)
  const shown = visible(names.slice(0, LISTED_MAX).join(', '))
  const more = names.length > LISTED_MAX ? `, and ${names.length - LISTED_MAX} more` : ''
  return names.length > 0 ? ` In ${shownPath(folder)} there are: ${shown}${more}` : ''
}

const LISTED_MAX = 20

function scriptsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => SCRIPT.test(name) && !isLeftOut(name))
    .sort()
}

function spiderClasses(exported: Readonly<Record<string, unknown>>): SpiderClass[] {
  return [...new Set(Object.values(exported).filter(isSpiderClass))]
}

function noSpider(file: string, exported: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(exported)
  const what =
    names.length > 0
      ? `exports ${visible(names.join(', '))}, and none of them is a spider`
      : 'exports nothing'
  return `${shownPath(file)} ${what}. Write:  export default class MySpider extends Spider { … }`
}

function severalSpiders(file: string, exported: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(exported).filter((name) => isSpiderClass(exported[name]))
  return `${shownPath(file)} exports several spiders: ${visible(names.join(', '))}. Make one of them the default export, or use a project and  webloom crawl <name>`
}

/** A spider of a project. */
export interface ProjectSpider {
  readonly name: string
  readonly Class: SpiderClass
  /** Where it was found; for a class in the config, or of a loader of one's own, the config file. */
  readonly file: string
}

export interface ProjectSpiders {
  /** By name. */
  readonly spiders: readonly ProjectSpider[]
  /** What could not be loaded, a message each: one broken file does not hide the other spiders. */
  readonly problems: readonly string[]
}

/**
 * All spiders of a project.
 *
 * @param args for a spider that cannot be made without arguments, not even to be asked its name
 * @param command settings of the command line, which may name another loader (SPIDER_LOADER_CLASS)
 */
export async function loadProjectSpiders(
  config: LoadedConfig,
  args: Readonly<Record<string, string>> = {},
  command?: WrittenSettings,
): Promise<ProjectSpiders> {
  const loader = await ownSpiderLoader(config, command)
  if (loader) {
    const names = await loader.list()
    const loaded = await Promise.all(names.map((name) => spiderOf(loader, name, config)))
    const missing = names.filter((_name, index) => loaded[index] === undefined)
    return { spiders: loaded.flatMap((spider) => spider ?? []), problems: missing.map(listedOnly) }
  }
  const { found, problems } = await foundClasses(config)
  const named = found.flatMap((one) => withName(one, found, args, problems))
  const byName = Map.groupBy(named, ({ name }) => name)
  const spiders: ProjectSpider[] = []
  for (const [name, sharers] of byName) {
    if (sharers.length === 1) spiders.push(sharers[0]!)
    else problems.push(duplicateName(name, sharers))
  }
  return { spiders: spiders.sort((a, b) => (a.name < b.name ? -1 : 1)), problems }
}

/** The spider of that name. Files that cannot be loaded matter only when it is not found. */
export async function findSpider(
  config: LoadedConfig,
  name: string,
  args: Readonly<Record<string, string>> = {},
  command?: WrittenSettings,
): Promise<ProjectSpider> {
  const loader = await ownSpiderLoader(config, command)
  if (loader) return (await spiderOf(loader, name, config)) ?? notLoaded(name, await loader.list())
  const { spiders, problems } = await loadProjectSpiders(config, args, command)
  const spider = spiders.find((one) => one.name === name)
  return (
    spider ??
    notFound(
      name,
      spiders.map((one) => one.name),
      problems,
    )
  )
}

async function spiderOf(
  loader: SpiderLoader,
  name: string,
  { path }: LoadedConfig,
): Promise<ProjectSpider | undefined> {
  const Class = await loader.load(name)
  return Class && { name, Class, file: path }
}

function notLoaded(name: string, names: readonly string[]): never {
  if (names.includes(name)) throw new UsageError('WL_SPIDER_LOAD', listedOnly(name))
  return notFound(name, names, [])
}

/** A loader's list() and load() say different things of a name. */
function listedOnly(name: string): string {
  const shown = JSON.stringify(name)
  return `the spider loader of SPIDER_LOADER_CLASS lists ${shown}, and its load(${shown}) gave undefined; expected the class of that spider`
}

function notFound(name: string, names: readonly string[], problems: readonly string[]): never {
  const known =
    names.length > 0 ? `Spiders here: ${visible(names.join(', '))}.` : 'There are no spiders here.'
  const broken =
    problems.length > 0 ? `\n\nIt may be in what could not be loaded:\n\n${problems.join('\n\n')}` : ''
  throw new UsageError(
    problems.length > 0 ? 'WL_SPIDER_LOAD' : 'WL_SPIDER_NOT_FOUND',
    `there is no spider ${JSON.stringify(name)}.${visible(didYouMean(name, names))} ${known}${broken}`,
  )
}

type FoundClass = Omit<ProjectSpider, 'name'>

async function foundClasses(config: LoadedConfig): Promise<{ found: FoundClass[]; problems: string[] }> {
  const found = new Map<SpiderClass, string>()
  const problems: string[] = []
  for (const source of config.spiders) {
    try {
      for (const { Class, file } of classesGiven(source, config)) found.set(Class, found.get(Class) ?? file)
      for (const file of filesGiven(source, config)) {
        const exported = await importProjectFile(file, 'WL_SPIDER_LOAD').catch((error: Error) => {
          problems.push(error.message)
          return {}
        })
        for (const Class of spiderClasses(exported)) found.set(Class, found.get(Class) ?? file)
      }
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  return { found: [...found].map(([Class, file]) => ({ Class, file })), problems }
}

function classesGiven(source: SpiderSource, { path }: LoadedConfig): FoundClass[] {
  return typeof source === 'string' ? [] : [{ Class: source, file: path }]
}

function filesGiven(source: SpiderSource, { folder, path }: LoadedConfig): string[] {
  if (typeof source !== 'string') return []
  const given = resolve(folder, source)
  const stats = statSync(given, { throwIfNoEntry: false })
  if (!stats)
    throw new UsageError(
      'WL_SPIDER_LOAD',
      `${shownPath(path)}: spiders names ${JSON.stringify(source)}; there is no such file or folder${/[*?{[]/.test(source) ? ': a file or a folder is expected, with all files below it, and no pattern' : ''}`,
    )
  return stats.isDirectory() ? scriptsBelow(given) : [given]
}

/** Files below a folder in which a project may have spiders, by path. */
export function scriptsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !isLeftOut(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return scriptsBelow(path)
      return SCRIPT.test(entry.name) && !isBuilt(path) ? [path] : []
    })
}

function isLeftOut(name: string): boolean {
  return /^[._]/.test(name) || name === 'node_modules' || /\.(test|spec|d)\.[cm]?[jt]s$/.test(name)
}

// A build may have left `quotes.js` beside `quotes.ts`: it is the same spider.
function isBuilt(path: string): boolean {
  return /\.m?js$/.test(path) && existsSync(path.replace(/js$/, 'ts'))
}

/** The class with its name, in a list; an empty one for a base class of others and for what cannot be made. */
function withName(
  one: FoundClass,
  all: readonly FoundClass[],
  args: Readonly<Record<string, string>>,
  problems: string[],
): ProjectSpider[] {
  try {
    return [{ ...one, name: nameOf(one.Class, args) }]
  } catch (error) {
    const isBase = all.some(({ Class }) => Class.prototype instanceof one.Class)
    if (!isBase) problems.push(`${shownPath(one.file)}: ${(error as Error).message}`)
    return []
  }
}

function nameOf(Class: SpiderClass, args: Readonly<Record<string, string>>): string {
  try {
    return createSpider(Class).name
  } catch (error) {
    if (Object.keys(args).length === 0) throw error
    return createSpider(Class, args).name
  }
}

function duplicateName(name: string, sharers: readonly ProjectSpider[]): string {
  const places = sharers.map(({ Class, file }) => `${Class.name} in ${shownPath(file)}`)
  return `several spiders are called ${JSON.stringify(name)}: ${places.join(', ')}. Give each a name of its own`
}
