/** `webloom.config.ts`: where a project's spiders are, and its settings. */

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import {
  didYouMean,
  environmentSettings,
  isSettingName,
  type SettingsInput,
  UsageError,
  type WrittenSettings,
} from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import { importProjectFile } from './import-project-file.ts'
import { shownPath } from './source-place.ts'
import { isSpiderClass } from './spider-class.ts'

/** Where spiders are: a folder, which is searched with all its folders, a file, or a class. Paths are relative to the config file. */
export type SpiderSource = string | SpiderClass

/** What `webloom.config.ts` exports as its default. */
export interface WebloomConfig {
  /** Where the spiders are; default `spiders`, a folder. */
  readonly spiders?: SpiderSource | readonly SpiderSource[]
  /** Settings of all spiders. A spider's customSettings, the environment and the command line override them. */
  readonly settings?: SettingsInput
}

/** Returns the config unchanged. An editor then knows the names, and `tsc` finds misspelt ones. */
export function defineConfig(config: WebloomConfig): WebloomConfig {
  return config
}

/** A config file that was read and found right. */
export interface LoadedConfig {
  /** Absolute. */
  readonly path: string
  /** Its folder: relative paths start there. */
  readonly folder: string
  /** Absent: there is no such file, and nothing of a project is kept in the folder. */
  readonly isProject?: true
  readonly spiders: readonly SpiderSource[]
  /** As they were written; `Settings` judges them. */
  readonly settings: WrittenSettings
}

/** In this order they are looked for; the first one in the nearest folder is taken. */
const FILE_NAMES = [
  'webloom.config.ts',
  'webloom.config.mts',
  'webloom.config.js',
  'webloom.config.mjs',
] as const

/** The config file of this folder or the nearest one above it. */
export function findConfig(cwd: string): string | undefined {
  const folder = resolve(cwd)
  const found = FILE_NAMES.map((name) => join(folder, name)).find((path) => existsSync(path))
  const parent = dirname(folder)
  return found ?? (parent === folder ? undefined : findConfig(parent))
}

/**
 * The config that a command for projects needs. Where a spider loader of one's own is set, there need be no file.
 *
 * @param command settings of the command line
 * @param hint returns one more line for who has no config
 */
export async function projectConfig(
  cwd: string,
  command: WrittenSettings = {},
  hint?: () => string,
): Promise<LoadedConfig> {
  const path = findConfig(cwd)
  if (path !== undefined) return loadConfig(path)
  if ('SPIDER_LOADER_CLASS' in { ...environmentSettings(process.env), ...command }) return noConfig(cwd)
  throw new UsageError(
    'WL_USAGE',
    `${resolve(cwd)} is in no project: there is no webloom.config.ts here or above. Make one:

  import { defineConfig } from 'webloom'
  export default defineConfig({ spiders: 'spiders' })

or run a single file:  webloom runspider <file>${hint === undefined ? '' : `\n\n${hint()}`}`,
  )
}

/** Returns what stands for a config where there is no file. */
export function noConfig(cwd: string): LoadedConfig {
  const folder = resolve(cwd)
  return { path: join(folder, FILE_NAMES[0]), folder, spiders: [], settings: {} }
}

/** The config of this folder; undefined where there is none, here or above. */
export async function configHere(): Promise<LoadedConfig | undefined> {
  const path = findConfig(process.cwd())
  return path === undefined ? undefined : loadConfig(path)
}

/** Reads a config file. All that is wrong with its shape is told at once; the settings are judged with the others. */
export async function loadConfig(path: string): Promise<LoadedConfig> {
  const file = resolve(path)
  const { default: config } = await importProjectFile(file, 'WL_SETTINGS_INVALID')
  const problems = isPlainObject(config) ? shapeProblems(config) : [`its default export is ${kindOf(config)}`]
  if (problems.length > 0) throw new UsageError('WL_SETTINGS_INVALID', badConfig(file, problems))
  const { spiders = 'spiders', settings = {} } = config as WebloomConfig
  return {
    path: file,
    folder: dirname(file),
    isProject: true,
    spiders: isList(spiders) ? spiders : [spiders],
    settings: settings as WrittenSettings,
  }
}

function isList(spiders: SpiderSource | readonly SpiderSource[]): spiders is readonly SpiderSource[] {
  return Array.isArray(spiders)
}

function badConfig(file: string, problems: readonly string[]): string {
  const list = problems.map((problem) => `  - ${problem}`).join('\n')
  return `${shownPath(file)} cannot be used:\n${list}\nExpected:  export default defineConfig({ spiders: 'spiders', settings: { … } })`
}

const KEYS = ['spiders', 'settings']

function shapeProblems(config: Readonly<Record<string, unknown>>): string[] {
  const { spiders, settings } = config
  const unknown = Object.keys(config).filter((key) => !KEYS.includes(key))
  return [
    ...unknown.map(unknownKey),
    ...(spiders === undefined ? [] : [spiders].flat()).filter((source) => !isSource(source)).map(badSource),
    ...(settings === undefined || isPlainObject(settings)
      ? []
      : [`settings is ${kindOf(settings)}; expected an object`]),
  ]
}

function unknownKey(key: string): string {
  if (isSettingName(key)) return `${key} is a setting: write it within  settings: { ${key}: … }`
  return `it has no key ${JSON.stringify(key)}.${didYouMean(key, KEYS) || ` There are ${KEYS.join(' and ')}.`}`
}

function isSource(value: unknown): value is SpiderSource {
  return (typeof value === 'string' && value !== '') || isSpiderClass(value)
}

function badSource(value: unknown): string {
  return `spiders holds ${kindOf(value)}; expected a folder, a file or a subclass of Spider`
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'function') return `the function or class ${value.name || 'without a name'}`
  if (Array.isArray(value)) return 'a list'
  return value === null || typeof value !== 'object' ? (JSON.stringify(value) ?? String(value)) : 'an object'
}
