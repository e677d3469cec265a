/** `./filters.ts#TitleFilter` in a setting: an export of a file of the project. */

import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMean, functionShown, isClass, UsageError } from '@webloom/core'
import { visible } from '../terminal/sanitize.ts'
import { importProjectFile } from './import-project-file.ts'
import { shownPath } from './source-place.ts'

export interface ComponentReferencePlace {
  /** Where relative paths start: the config file's folder, or the current one. */
  readonly folder: string
  /** The setting that holds the reference. */
  readonly setting: string
}

/** Imports the file and returns the export, as `loadComponent`; throws when it is no class. */
export async function loadClass(reference: string, place: ComponentReferencePlace): Promise<unknown> {
  const value = await loadComponent(reference, place)
  if (isClass(value)) return value
  const [file, name] = partsOf(reference)
  const { setting } = place
  throw new UsageError(
    'WL_COMPONENT_LOAD',
    `${setting} names ${JSON.stringify(reference)}: ${name} of ${visible(file)} is ${functionShown(value)}; expected a class`,
  )
}

/** Imports the file and returns the export. Without `#Name` it is the default export. */
export async function loadComponent(reference: string, place: ComponentReferencePlace): Promise<unknown> {
  const [file, name] = partsOf(reference)
  const path = pathOf(file, reference, place)
  const exported = await importWithSetting(path, reference, place)
  if (exported[name] !== undefined) return exported[name]
  // Of commonjs, beside its default.
  const names = Object.keys(exported)
    .filter((one) => one !== 'module.exports')
    .sort()
  const known = names.length > 0 ? `it exports ${names.join(', ')}.` : 'it exports nothing.'
  const only = names.length === 1 ? ` Write ${file}#${names[0]}` : ''
  throw componentError(
    reference,
    place,
    `${shownPath(path)} has no export ${visible(`${name}; ${known}${didYouMean(name, names) || only}`)}`,
  )
}

function partsOf(reference: string): [file: string, name: string] {
  const at = reference.lastIndexOf('#')
  if (at < 0) return [reference, 'default']
  return [reference.slice(0, at), reference.slice(at + 1) || 'default']
}

function pathOf(file: string, reference: string, place: ComponentReferencePlace): string {
  if (!/^\.{1,2}[/\\]/.test(file) && !isAbsolute(file) && !file.startsWith('file:')) {
    const hint =
      'expected a file, as in ./filters.ts#TitleFilter; what a package exports, import in webloom.config.ts'
    throw componentError(reference, place, `${JSON.stringify(file)} is not a path; ${hint}`)
  }
  const path = file.startsWith('file:') ? pathOfUrl(file, reference, place) : resolve(place.folder, file)
  if (existsSync(path)) return path
  throw componentError(
    reference,
    place,
    `there is no file ${shownPath(path)} (relative paths start at ${place.folder})`,
  )
}

function pathOfUrl(url: string, reference: string, place: ComponentReferencePlace): string {
  try {
    return fileURLToPath(url)
  } catch (cause) {
    throw componentError(reference, place, `${url} names no file: ${(cause as Error).message}`, cause)
  }
}

async function importWithSetting(
  path: string,
  reference: string,
  place: ComponentReferencePlace,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await importProjectFile(path, 'WL_COMPONENT_LOAD')
  } catch (error) {
    throw componentError(reference, place, (error as Error).message, error)
  }
}

function componentError(
  reference: string,
  { setting }: ComponentReferencePlace,
  problem: string,
  cause?: unknown,
): UsageError {
  const message = `${setting} names ${JSON.stringify(reference)}, which cannot be loaded: ${problem}`
  return new UsageError('WL_COMPONENT_LOAD', message, cause === undefined ? {} : { cause })
}
