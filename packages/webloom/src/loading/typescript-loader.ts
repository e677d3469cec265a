/**
 * Lets Node run a project's TypeScript as it is written, without a build.
 *
 * - `.ts` and `.mts` are ES modules whatever the nearest package.json says: `npm init -y` writes `"type": "commonjs"`,
 *   and a spider that begins with `import` must run in that folder too.
 * - Types are stripped in place, so lines and columns stay and no source map is needed.
 * - `./items`, `./items.js` find `items.ts`: that is what people write, and what their editor accepts.
 * - `webloom` is found in the project's own node_modules; where it is not installed, as under `npx`, it is this copy.
 *
 * Packages below node_modules load as Node loads them.
 */

import { statSync } from 'node:fs'
import { type LoadHookSync, type ResolveHookSync, registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isTypeScript, strippedSource } from './stripped/strip-types.ts'

let isRegistered = false

/** Makes this process import TypeScript files from now on. Calling it again does nothing. */
export function registerTypeScriptLoader(): void {
  if (isRegistered) return
  isRegistered = true
  registerHooks({ resolve, load })
}

/** The project's files that are loaded from now on, in their order: one that does not compile is among them. */
export function collectLoads(): { readonly files: readonly string[]; stop(): void } {
  const files: string[] = []
  collections.add(files)
  return { files, stop: () => void collections.delete(files) }
}

const collections = new Set<string[]>()

const load: LoadHookSync = (url, context, nextLoad) => {
  if (!isProjectFile(url)) return nextLoad(url, context)
  const path = fileURLToPath(withoutQuery(url))
  const source = isTypeScript(path) ? strippedSource(path) : undefined
  for (const files of collections) files.push(path)
  return source === undefined ? nextLoad(url, context) : { format: 'module', source, shortCircuit: true }
}

/** Whether it belongs to somebody's project and not to an installed package. */
function isProjectFile(url: string | undefined): url is string {
  return url?.startsWith('file:') === true && !url.includes('/node_modules/')
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/, '')
}

const NOT_FOUND = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND', 'ERR_UNSUPPORTED_DIR_IMPORT'])

const resolve: ResolveHookSync = (specifier, context, nextResolve) => {
  try {
    return nextResolve(specifier, context)
  } catch (error) {
    if (!NOT_FOUND.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    if (!isProjectFile(context.parentURL)) throw error
    if (isOurPackage(specifier)) return nextResolve(specifier, { ...context, parentURL: import.meta.url })
    const file = meantFile(specifier, context.parentURL)
    if (file === undefined) throw error
    return nextResolve(pathToFileURL(file).href, context)
  }
}

function isOurPackage(specifier: string): boolean {
  return specifier === 'webloom' || specifier.startsWith('@webloom/')
}

// In this order TypeScript looks too.
const ENDINGS = ['.ts', '.mts', '.js', '.mjs', '/index.ts', '/index.mts', '/index.js', '/index.mjs']

/** The file that a relative import means when its own spelling names none. */
function meantFile(specifier: string, parentUrl: string): string | undefined {
  if (!/^\.{1,2}\//.test(specifier) && specifier !== '.' && specifier !== '..') return undefined
  const path = fileURLToPath(withoutQuery(new URL(specifier, parentUrl).href)).replace(/[/\\]$/, '')
  // `.js` in TypeScript names what a build would make of the `.ts` beside it.
  const asSource = path.replace(/\.(m?)js$/, '.$1ts')
  const candidates = [...(asSource === path ? [] : [asSource]), ...ENDINGS.map((ending) => path + ending)]
  return candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile())
}
