import type { Browser } from 'playwright-core'
import { ensureChromium } from './chromium-install.ts'

/**
 * Starts a headless Chromium: `await using browser = await startBrowser()` closes it at the end of the block. Where there is
 * none on this machine it is got first; where none can be got, this throws with the line to type.
 */
export async function startBrowser(): Promise<Browser> {
  const executablePath = await ensureChromium()
  // Most tests that use the testkit open no browser, and this is the largest thing it could load.
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath, timeout: START_TIMEOUT_MS })
}

/** It starts in half a second; on a machine that is busy otherwise it takes longer. */
const START_TIMEOUT_MS = 60_000
