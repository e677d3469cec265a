/** Says in words why an output cannot be written, and what to do about it. */

import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { WebloomError } from '@webloom/core'
import { shownText } from './feed-uri.ts'

interface Words {
  readonly cause: string
  readonly wayOut: string
}

const ANOTHER_PATH = 'Choose another path'

const WORDS: Readonly<Record<string, Words>> = {
  EISDIR: { cause: 'it is a folder', wayOut: 'Name a file in it, such as out.jsonl' },
  EACCES: { cause: 'no permission', wayOut: 'Choose a path that you may write, or change its permissions' },
  EPERM: { cause: 'no permission', wayOut: 'Choose a path that you may write, or change its permissions' },
  EROFS: { cause: 'the file system is read-only', wayOut: 'Choose a path on another file system' },
  ENOSPC: { cause: 'the disk is full', wayOut: 'Make room, or choose a path on another disk' },
  EDQUOT: { cause: 'the disk quota is used up', wayOut: 'Make room, or choose a path on another disk' },
  EFBIG: {
    cause: 'the file is as big as files may be here',
    wayOut: 'Choose another path, or raise the limit (ulimit -f)',
  },
  ENOENT: { cause: 'nothing can be created in that folder', wayOut: ANOTHER_PATH },
  ENAMETOOLONG: { cause: 'its name is too long', wayOut: 'Choose a shorter one' },
  ELOOP: { cause: 'its symbolic links lead in a circle', wayOut: ANOTHER_PATH },
  EMFILE: { cause: 'this process has too many files open', wayOut: 'Raise the limit (ulimit -n)' },
  ENXIO: { cause: 'there is no such device', wayOut: ANOTHER_PATH },
  EIO: { cause: 'the disk reports an error', wayOut: 'Choose a path on another disk' },
  EPIPE: {
    cause: 'its reader has closed it, as "| head" does',
    wayOut: 'Nothing is wrong if that was wanted',
  },
}

/** Resolves to the error of an output that cannot be written, before any page has been fetched. */
export async function unwritable(uri: string, path: string, error: unknown): Promise<WebloomError> {
  if (error instanceof WebloomError) return error
  const known = (await obstacle(path, error)) ?? knownWords(error)
  // Of a storage of one's own the path is that of our spool, which nobody wrote.
  const message = known
    ? `${shown(uri, path)} cannot be written: ${sentences(known.cause, known.wayOut)}`
    : `${SCHEME.test(uri) ? uri : shown(uri, path)} cannot be written: ${sentences(reasonOf(error))}`
  return new WebloomError('WL_OUTPUT_UNWRITABLE', message, { cause: error })
}

/** Returns the error of an output that fails while the crawl runs. `rest` says what became of the items. */
export function failed(uri: string, error: unknown, rest = 'What was written before stays'): WebloomError {
  if (error instanceof WebloomError) return error
  const known = knownWords(error)
  const told = known ? sentences(known.cause, rest, known.wayOut) : sentences(reasonOf(error), rest)
  return new WebloomError('WL_OUTPUT_FAILED', `Writing ${uri} failed: ${told}`, { cause: error })
}

/** Returns the error of a file that a running crawl writes to, and that nobody finds any more. */
export function removed({ uri, path }: { uri: string; path: string }): WebloomError {
  return new WebloomError(
    'WL_OUTPUT_FAILED',
    `Writing ${uri} failed: ${path} was removed, or replaced by another file, while the crawl wrote to it, and its items are gone with it. Crawl anew for them (a crawl that is resumed does not fetch their pages again).`,
  )
}

/** Before the crawl: whether the output can be written is not known, and nobody waits for it any longer. */
export function openedTooLate(uri: string, timeoutMs: number): WebloomError {
  return new WebloomError(
    'WL_OUTPUT_UNWRITABLE',
    `${uri} cannot be written: opening it took longer than ${shownTimeout(timeoutMs)}. Look whether its storage answers, or raise COMPONENT_TIMEOUT.`,
  )
}

/** Returns the error for the end of a crawl: the items are written, but nobody waits for the output any longer. */
export function madeTooLate(
  uri: string,
  timeoutMs: number,
  { spoolPath, resumable = false }: { spoolPath?: string | undefined; resumable?: boolean | undefined } = {},
): WebloomError {
  const rest =
    spoolPath === undefined
      ? 'What was written before stays. Raise COMPONENT_TIMEOUT'
      : `The items are in ${spoolPath}, one a line. ${resumable ? RUN_AGAIN : PUT_THERE}`
  return new WebloomError(
    'WL_OUTPUT_FAILED',
    `Writing ${uri} failed: it was not complete within ${shownTimeout(timeoutMs)}, and is given up. ${rest}.`,
  )
}

const RUN_AGAIN = 'Raise COMPONENT_TIMEOUT and run the crawl again: the output is then made of them'
const PUT_THERE =
  'Raise COMPONENT_TIMEOUT before you crawl again; these items are JSON lines, so you can also put them there by other means'

function shownTimeout(timeoutMs: number): string {
  return `COMPONENT_TIMEOUT, ${timeoutMs / 1000} s`
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

function knownWords(error: unknown): Words | undefined {
  return WORDS[codeOf(error) ?? '']
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function sentences(...parts: readonly string[]): string {
  return parts.map((part) => (part.endsWith('.') ? part : `${part}.`)).join(' ')
}

// One letter is a drive of Windows.
const SCHEME = /^(?!file:)[a-z][a-z0-9+.-]+:/i

/** The user's own words first; the whole path where these do not show it. */
function shown(uri: string, path: string): string {
  return uri === path || uri.includes(path) ? uri : `${uri} (${path})`
}

/** Finds a file that stands where the path needs a folder. */
async function obstacle(path: string, error: unknown): Promise<Words | undefined> {
  if (!['ENOTDIR', 'EEXIST'].includes(codeOf(error) ?? '')) return undefined
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined)
    if (found && !found.isDirectory())
      return {
        cause: `the file ${folder} stands where a folder is needed`,
        wayOut: `${ANOTHER_PATH}, or move that file away`,
      }
    if (found) return undefined
  }
  return undefined
}

// Deeper than errors are caused by each other; one that causes itself ends here.
const CAUSES_MAX = 10

/**
 * Returns what a storage has thrown, without the secrets of the output's URI in messages, stacks and causes. Of other fields
 * only `code` is kept, as an HTTP client's error may hold its whole request.
 */
export function withoutUriSecrets(error: unknown, uri: string, depth = 0): unknown {
  if (typeof error === 'string') return shownText(error, uri)
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const isCaused = cause !== undefined && depth < CAUSES_MAX
  const shown = new Error(
    shownText(message, uri),
    isCaused ? { cause: withoutUriSecrets(cause, uri, depth + 1) } : {},
  )
  shown.name = name
  if (stack !== undefined) shown.stack = shownText(stack, uri)
  return 'code' in error ? Object.assign(shown, { code: error.code }) : shown
}
