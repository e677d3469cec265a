import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { stripProblem } from '../syntax-problem.ts'
import { strippedOnce } from './stripped-cache.ts'

/** Returns whether we load a file: `.cts` is Node's, for it is CommonJS by name. */
export function isTypeScript(path: string): boolean {
  return /\.m?ts$/.test(path)
}

/** The text of a file as V8 gets it. */
export function strippedSource(path: string): string {
  const source = readFileSync(path, 'utf8')
  if (!isTypeScript(path)) return source
  try {
    return strippedOnce(path, source, () => withoutStripWarning(() => stripTypeScriptTypes(source)))
  } catch (error) {
    throw stripProblem(path, source, error as Error)
  }
}

/**
 * Stripping is marked experimental, and a user can do nothing about that. Only this warning is kept back, and only
 * during the call.
 */
function withoutStripWarning<T>(strip: () => T): T {
  const original = process.emitWarning
  const others = (...args: Parameters<typeof original>) => {
    if (!String(args[0]).startsWith('stripTypeScriptTypes')) original.apply(process, args)
  }
  process.emitWarning = others as typeof original
  try {
    return strip()
  } finally {
    process.emitWarning = original
  }
}
