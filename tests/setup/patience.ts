/**
 * How long a test waits for what must come: `vi.waitFor` and `vi.waitUntil` give up after a second by themselves, which says
 * how busy the machine is and nothing of us. A test that promises how soon measures that itself.
 */

import { vi } from 'vitest'
import { PATIENCE_MS } from './patience-ms.ts'

const { waitFor, waitUntil } = vi
const patiently = <O extends { timeout?: number }>(options: number | O | undefined): number | O =>
  typeof options === 'number' ? options : ({ timeout: PATIENCE_MS, ...options } as O)

// Files that share a process load this once for each of them: it wraps what it has wrapped, and the outermost decides.
vi.waitFor = (callback, options) => waitFor(callback, patiently(options))
vi.waitUntil = (callback, options) => waitUntil(callback, patiently(options))
