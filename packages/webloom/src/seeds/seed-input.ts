import { createReadStream, existsSync, statSync } from 'node:fs'
import { UsageError } from '@webloom/core'
import { shownPath } from '../loading/source-place.ts'
import { type SeedLine, seedLines } from './seed-lines.ts'

/** Where the messages come from. */
export interface SeedInput {
  /** How a bad line is called: `urls.txt:7`, `argument 2`. */
  readonly placeOf: (line: number) => string
  readonly lines: AsyncIterable<readonly SeedLine[]>
  /** Part of it that was read. */
  readonly read: () => number | undefined
}

/** Returns what the command line names: messages, a file of them, or standard input (`-`). Throws WL_USAGE. */
export function seedInput(messages: readonly string[], file: string | undefined): SeedInput {
  const [first] = messages
  if (file !== undefined) {
    if (messages.length > 0)
      throw new UsageError(
        'WL_USAGE',
        `--file ${file} and ${JSON.stringify(first)} are given; expected one of them`,
      )
    return file === '-' ? standardInput() : lineFile(file)
  }
  if (first === undefined)
    throw new UsageError(
      'WL_USAGE',
      'nothing to seed: give URLs or messages, a file with one a line, or - for standard input',
    )
  if (messages.length === 1 && first === '-') return standardInput()
  const isPath = messages.length === 1 && !/^[{["]|:\/\//.test(first)
  // Named like one, it was meant as a file, be it there or not.
  if (isPath && (existsSync(first) || /\.(txt|csv|tsv|jsonl?|urls?|list)$/i.test(first)))
    return lineFile(first)
  return {
    placeOf: (line) => `argument ${line}`,
    lines: inOnePart(messages.map((text, n) => ({ number: n + 1, text: text.trim() }))),
    read: () => undefined,
  }
}

async function* inOnePart(lines: readonly SeedLine[]): AsyncGenerator<readonly SeedLine[]> {
  yield lines
}

function standardInput(): SeedInput {
  return {
    placeOf: (line) => `line ${line}`,
    lines: seedLines(process.stdin),
    read: () => undefined,
  }
}

function lineFile(path: string): SeedInput {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw new UsageError('WL_USAGE', `there is no file ${shownPath(path)}`)
  if (stats.isDirectory())
    throw new UsageError(
      'WL_USAGE',
      `${shownPath(path)} is a folder; expected a file with one message a line`,
    )
  let bytesRead = 0
  // Opened when it is read, so that an error on the way reaches whoever reads it.
  const chunks = async function* () {
    for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 18 })) {
      bytesRead += (chunk as Buffer).length
      yield chunk as Buffer
    }
  }
  return {
    placeOf: (line) => `${shownPath(path)}:${line}`,
    lines: seedLines(chunks()),
    // A pipe has no size.
    read: () => (stats.size > 0 ? bytesRead / stats.size : undefined),
  }
}
