/** Imports a file that a user wrote; whatever goes wrong becomes one message with the file, the line and a way out. */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { didYouMean, type ErrorCode, UsageError, valueShown, WebloomError } from '@webloom/core'
import { visible } from '../terminal/sanitize.ts'
import { compileProblem } from './compile-check.ts'
import { type LoadTimes, loadedInTime, NotLoadedInTime } from './loaded-in-time.ts'
import { type SourcePlace, shownPath, shownPlace, sourceExcerpt } from './source-place.ts'
import { SyntaxProblem } from './syntax-problem.ts'
import { collectLoads } from './typescript-loader.ts'

/** @param code of the error when it cannot be loaded */
export async function importProjectFile(
  path: string,
  code: ErrorCode,
  times?: LoadTimes,
): Promise<Readonly<Record<string, unknown>>> {
  const loads = collectLoads()
  try {
    return await loadedInTime(notLoaded(path), import(pathToFileURL(path).href), times)
  } catch (error) {
    throw new UsageError(code, loadProblem(path, error, loads.files), { cause: error })
  } finally {
    loads.stop()
  }
}

function notLoaded(path: string): string {
  return `${shownPath(path)}: an await at the top level of this file, or of one that it imports, has not settled`
}

function loadProblem(path: string, error: unknown, loaded: readonly string[]): string {
  if (error instanceof SyntaxProblem || error instanceof NotLoadedInTime) return error.message
  if (!(error instanceof Error)) {
    const shown = typeof error === 'object' ? valueShown(error) : String(error)
    return `${shownPath(path)} threw ${shown} while it was loaded`
  }
  return (
    notFoundProblem(error) ??
    missingSubpathProblem(error) ??
    missingExportProblem(error) ??
    compileProblemOf(error, loaded) ??
    thrownProblem(path, error)
  )
}

/** In a .cts file TypeScript's form for commonjs is code that must be compiled, and types are only stripped. */
function importRequireHint(shown: string): string {
  const [, name, from] = /\bimport (\w+) = require\((['"].*?['"])\)/.exec(shown) ?? []
  return name === undefined
    ? ''
    : `\n\nTypes are only stripped here. Write:  const ${name} = require(${from})`
}

/** `Cannot find package 'x' imported from /a/b.ts` */
function notFoundProblem(error: Error): string | undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') return undefined
  const [, kind, wanted, importer] =
    /^Cannot find (package|module) '(.*?)' imported from (.*)$/s.exec(error.message) ?? []
  if (wanted === undefined || importer === undefined) return undefined
  return kind === 'package' ? missingPackage(wanted, importer) : missingFile(wanted, importer)
}

function missingPackage(name: string, importer: string): string {
  // Node names the file inside when the package is there and the file is not.
  const place = importPlace(importer, (specifier) => specifier === name || specifier.startsWith(`${name}/`))
  return `${place.shown}: the package '${name}' is not installed.${place.excerpt}\n\nInstall it:  npm install ${name}`
}

function missingFile(wanted: string, importer: string): string {
  const place = importPlace(
    importer,
    (specifier) => specifier.startsWith('.') && wanted.endsWith(lastPart(specifier)),
  )
  return `${place.shown}: there is no file ${visible(relativeTo(importer, wanted))}.${place.excerpt}`
}

/** `Package subpath './port' is not defined by "exports" in /a/node_modules/x/package.json imported from /b.ts` */
function missingSubpathProblem(error: Error): string | undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') return undefined
  const [, subpath, manifest, importer] =
    /^Package subpath '\.(\/.*?)' is not defined by "exports" in (.*) imported from (.*)$/s.exec(
      error.message,
    ) ?? []
  if (subpath === undefined || manifest === undefined || importer === undefined) return undefined
  const { name, exported } = exportsOf(manifest)
  const wanted = `${name}${subpath}`
  const place = importPlace(importer, (specifier) => specifier === wanted)
  const known = didYouMean(wanted, exported) || ` It has ${exported.join(', ')}.`
  return `${place.shown}: the package ${name} has no ${wanted}.${known}${place.excerpt}`
}

/** What a package may be imported as: `webloom`, `webloom/ports`. */
function exportsOf(manifest: string): { name: string; exported: string[] } {
  const { name, exports } = JSON.parse(sourceOf(manifest)) as { name: string; exports: object | string }
  const subpaths =
    typeof exports === 'object' ? Object.keys(exports).filter((path) => path.startsWith('.')) : []
  return { name, exported: subpaths.map((path) => `${name}${path.slice(1)}`) }
}

function lastPart(specifier: string): string {
  return specifier.replace(/^.*\//, '')
}

function relativeTo(importer: string, wanted: string): string {
  const path = relative(dirname(importer), wanted).split(sep).join('/')
  return path.startsWith('.') ? path : `./${path}`
}

/** Where a file imports what is meant; only its name when that is not to be seen. */
function importPlace(
  path: string,
  isMeant: (specifier: string) => boolean,
): { shown: string; excerpt: string } {
  const source = sourceOf(path)
  const lines = source.split('\n')
  for (const [index, text] of lines.entries()) {
    const match = [...text.matchAll(/(['"])([^'"]+)\1/g)].find(([, , specifier]) => isMeant(specifier!))
    if (!match) continue
    const place: SourcePlace = { path, line: index + 1, column: match.index + 1 }
    return { shown: shownPlace(place), excerpt: `\n\n${sourceExcerpt(source, place)}` }
  }
  return { shown: shownPath(path), excerpt: '' }
}

function sourceOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Only the message is poorer for it: it says where, and does not show the line.
    return ''
  }
}

/** A name that is not exported; most often it is a type, and stripping cannot know that. */
function missingExportProblem(error: Error): string | undefined {
  const [, from, name] =
    /^The requested module '(.*?)' does not provide an export named '(.*?)'$/.exec(error.message) ?? []
  if (from === undefined || name === undefined) return undefined
  const problem = `'${from}' exports no ${name}`
  const wayOut = name === 'default' ? '' : `\n\n${importToWrite(name, from)}`
  const [, url, line] = /^(file:.*):(\d+)\n/.exec(error.stack ?? '') ?? []
  if (url === undefined) return `${problem}${wayOut}`
  const path = fileURLToPath(url)
  const source = sourceOf(path)
  const at = (source.split('\n')[Number(line) - 1] ?? '').indexOf(name)
  const place = { path, line: Number(line), column: at < 0 ? undefined : at + 1 }
  return `${shownPlace(place)}: ${problem}\n\n${sourceExcerpt(source, place)}${wayOut}`
}

function importToWrite(name: string, from: string): string {
  const [listed, keyword] = (from === 'webloom' ? listedInPorts(name) : undefined) ?? []
  if (listed !== undefined) return `Write:  import ${keyword ?? ''}{ ${name} } from 'webloom/ports'`
  return `If ${name} is a type, write:  import type { ${name} } from '${from}'`
}

/** Its declaration is read as text: types are among its names, and a module has none of these when it runs. */
function listedInPorts(name: string): RegExpExecArray | undefined {
  const ports = ['../ports.ts', '../ports.d.ts']
    .map((path) => new URL(path, import.meta.url))
    .find(existsSync)
  if (ports === undefined || !/^\w+$/.test(name)) return undefined
  return new RegExp(`[{,]\\s*(type )?${name}\\s*[,}]`).exec(sourceOf(fileURLToPath(ports))) ?? undefined
}

// A file is checked by a process of its own; more than these would keep the user waiting.
const CHECKED_MAX = 20

/** V8 does not say in which file a module's syntax error is. A module is compiled when it is loaded: the last it was. */
function compileProblemOf(error: Error, loaded: readonly string[]): string | undefined {
  if (error.name !== 'SyntaxError') return undefined
  for (const path of loaded.toReversed().slice(0, CHECKED_MAX)) {
    const problem = compileProblem(path, error)
    if (problem) return `${problem.message}${importRequireHint(problem.message)}`
  }
  return undefined
}

const HINTS: readonly (readonly [says: RegExp, hint: string])[] = [
  [
    /^Cannot use import statement outside a module/,
    "this file is commonjs by its name; write  const { Spider } = require('webloom'), or name it .mts",
  ],
  [/^require is not defined/, "this file is an ES module; write  import x from 'x'"],
  [/^__dirname is not defined/, 'this file is an ES module; write  import.meta.dirname'],
  [/^__filename is not defined/, 'this file is an ES module; write  import.meta.filename'],
  [/^(module|exports) is not defined/, 'this file is an ES module; write  export default …'],
]

function thrownProblem(path: string, error: Error): string {
  const place = projectFrame(error.stack ?? '')
  const name = error instanceof WebloomError ? '' : `${error.name}: `
  const hint = HINTS.find(([says]) => says.test(error.message))?.[1]
  const head = `${place ? shownPlace(place) : shownPath(path)}: ${name}${error.message}`
  const excerpt = place ? `\n\n${sourceExcerpt(sourceOf(place.path), place)}` : ''
  const loading = place && place.path !== path ? `\n\nIt was thrown while ${shownPath(path)} was loaded.` : ''
  return `${head}${excerpt}${hint ? `\n\nIn ${shownPath(place?.path ?? path)} ${hint}` : ''}${loading}`
}

// The folder that holds webloom and, installed or not, its packages.
const OURS = new URL('../../../', import.meta.url).href

/** The first frame that is neither Node's, nor ours, nor an installed package's. */
function projectFrame(stack: string): SourcePlace | undefined {
  for (const [, url, line, column] of stack.matchAll(/^\s+at .*?(file:\/\/[^\s)]+?):(\d+):(\d+)\)?$/gm)) {
    if (url!.includes('/node_modules/') || url!.startsWith(OURS)) continue
    return { path: fileURLToPath(url!), line: Number(line), column: Number(column) }
  }
  return undefined
}
