import type { RobotsEntry } from '../src/robots/robots-store.ts'

export const NOW_MS = 1_000_000
export const DAY_MS = 86_400_000

/** What a site that has a robots.txt is remembered with. */
export const rules = (file: string, askAgainAtMs = NOW_MS + DAY_MS): RobotsEntry => ({
  outcome: 'rules',
  file,
  askAgainAtMs,
})

/** What a site is remembered with whose robots.txt was answered 503 twice. */
export const unreachable = (askAgainAtMs: number): RobotsEntry => ({
  outcome: 'unreachable',
  reason: '503',
  tries: 2,
  sinceMs: NOW_MS,
  isGivenUp: false,
  askAgainAtMs,
})

/** Bytes a store may keep of each kind. */
export const SHARES = { sitesBytes: 10_000, filesBytes: 1_000_000, troublesBytes: 10_000 }
export const site = (n: number) => `https://site${n}.example`
