import { availableParallelism } from 'node:os'
import type { Settings } from '@webloom/core'

/** What the settings say of browsers. */
export interface BrowserSettings {
  /** BROWSER_EXECUTABLE. */
  readonly executable: string | null
  /** BROWSER_CDP_URL. */
  readonly cdpUrl: string | null
  /** BROWSER_CDP_TRUSTED. */
  readonly isCdpTrusted: boolean
  /** BROWSER_EGRESS_HOST. */
  readonly egressHost: string
  /** BROWSER_SANDBOX. */
  readonly hasSandbox: boolean
  /** BROWSER_PAGES. */
  readonly pagesMax: number
  /** BROWSER_RETIRE_AFTER; 0: never. */
  readonly retireAfter: number
  /** BROWSER_MEMORY_MB; 0: no bound. */
  readonly memoryMbMax: number
  /** Where the scripts of one page must stop, MiB. */
  readonly heapMb: number
  /** BROWSER_MAXSIZE; 0: no bound. */
  readonly bytesMax: number
}

const PAGES_PER_CORE = 2
// More than any page needs, and less than a machine has.
const HEAP_MB_MAX = 1024
const HEAP_MB_MIN = 128

/** Reads the settings that begin with BROWSER. */
export function browserSettingsOf(settings: Settings): BrowserSettings {
  const memoryMbMax = settings.getInt('BROWSER_MEMORY_MB')
  return {
    executable: settings.get('BROWSER_EXECUTABLE'),
    cdpUrl: settings.get('BROWSER_CDP_URL'),
    isCdpTrusted: settings.getBool('BROWSER_CDP_TRUSTED'),
    egressHost: settings.getString('BROWSER_EGRESS_HOST'),
    hasSandbox: settings.getBool('BROWSER_SANDBOX'),
    pagesMax: settings.get('BROWSER_PAGES') ?? PAGES_PER_CORE * availableParallelism(),
    retireAfter: settings.getInt('BROWSER_RETIRE_AFTER'),
    memoryMbMax,
    // Half of what the browser may have: a page that fills its heap ends before the browser does.
    heapMb: memoryMbMax > 0 ? Math.max(HEAP_MB_MIN, Math.min(HEAP_MB_MAX, memoryMbMax >> 1)) : HEAP_MB_MAX,
    bytesMax: settings.getInt('BROWSER_MAXSIZE'),
  }
}
