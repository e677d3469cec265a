/** Whether what a crawl writes can be written. */

import { mkdtempSync, rmdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Settings, withoutUrlSecrets } from '@webloom/core'
import { byteSize } from '../terminal/figures.ts'
import { shellQuoted } from '../terminal/resume-line.ts'
import { resultsOf } from './attempt.ts'
import type { CheckResult, CheckResults } from './check-result.ts'

/** Less is soon full: a page with its links takes some kilobytes in a JOBDIR or a cache. */
const FREE_BYTES_MIN = 500 * 2 ** 20

interface Place {
  /** The setting, or what else asks for the folder. */
  readonly asks: string
  readonly folder: string
}

/** Checks whether this folder, and those that the settings name, can be written. */
export function checkFolders(settings: Settings): Promise<CheckResults>[] {
  const here = (): Place[] => [{ asks: 'this folder', folder: '.' }]
  return [here, jobDir, httpCache, filesStore, logFile, feeds].map((places) =>
    resultsOf('write access', () => places(settings).map(checkFolder)),
  )
}

function jobDir(settings: Settings): Place[] {
  const folder = settings.get('JOBDIR')
  return folder ? [{ asks: 'JOBDIR', folder }] : []
}

function httpCache(settings: Settings): Place[] {
  return settings.getBool('HTTPCACHE_ENABLED')
    ? [{ asks: 'HTTPCACHE_DIR', folder: settings.getString('HTTPCACHE_DIR') }]
    : []
}

function filesStore(settings: Settings): Place[] {
  const folder = settings.get('FILES_STORE')
  return folder === null || isRemote(folder) ? [] : [{ asks: 'FILES_STORE', folder }]
}

function logFile(settings: Settings): Place[] {
  const path = settings.get('LOG_FILE')
  return path === null ? [] : [{ asks: 'LOG_FILE', folder: dirname(path) }]
}

function feeds(settings: Settings): Place[] {
  return Object.keys(settings.getDict('FEEDS'))
    .filter((uri) => uri !== '-' && !uri.startsWith('stdout:') && !isRemote(uri))
    .map((uri) => ({ asks: `FEEDS ${withoutUrlSecrets(uri)}`, folder: dirname(plainPath(uri)) }))
}

/** What comes before the first placeholder, which may be a part of a name. */
function plainPath(uri: string): string {
  const path = uri.startsWith('file://') ? fileURLToPath(uri) : uri
  return path.replace(/%\(.*$/s, '-')
}

function isRemote(uri: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(uri) && !uri.startsWith('file://')
}

function checkFolder({ asks, folder }: Place): CheckResult {
  const check = 'write access'
  const path = resolve(folder)
  const existing = existingFolder(path)
  try {
    // Rights alone do not tell of a file system that is mounted read-only, or is full.
    rmdirSync(mkdtempSync(join(existing, '.webloom-doctor-')))
  } catch (error) {
    return {
      check,
      state: 'fail',
      found: `${path} (${asks}) cannot be written: ${causeOf(error as Error)}`,
      type: fixOf(path, existing, error as NodeJS.ErrnoException),
    }
  }
  const free = freeBytes(existing)
  const shown = `${path} (${asks}), ${byteSize(free)} free`
  return free < FREE_BYTES_MIN
    ? { check, state: 'warn', found: `${shown}: it is soon full`, type: `df -h ${shellQuoted(existing)}` }
    : { check, state: 'ok', found: shown }
}

/** Returns the error's message without the name of the folder that was tried. */
function causeOf({ message }: Error): string {
  return message.replace(/, mkdtemp .*$/s, '')
}

/** The path, or what is there of the folders above it; a crawl makes those that are missing. */
function existingFolder(path: string): string {
  const parent = dirname(path)
  return statOf(path) || parent === path ? path : existingFolder(parent)
}

function statOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // Below a file, or below a folder that must not be entered.
    return undefined
  }
}

function fixOf(path: string, existing: string, { code }: NodeJS.ErrnoException): string {
  if (code === 'ENOSPC') return `df -h ${shellQuoted(existing)}`
  if (statOf(existing)?.isDirectory() === false)
    return `ls -l ${shellQuoted(existing)}    # a file; name another folder`
  return `mkdir -p ${shellQuoted(path)} && sudo chown "$USER" ${shellQuoted(path)}`
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
