import type { Trouble } from './frontier-simulation.ts'

/** What may happen to a simulated crawl, by name. Nothing at all is one of these: a crawl must be right then, too. */
export const TROUBLES = {
  'nothing goes wrong': { kills: 0, drops: 0, setBacks: 0, clockJumps: 0 },
  'connections are lost, and clocks jump': { kills: 0, drops: 10, setBacks: 0, clockJumps: 3 },
  'workers are killed': { kills: 3, drops: 5, setBacks: 0, clockJumps: 2 },
  'Redis comes back older': { kills: 2, drops: 5, setBacks: 3, clockJumps: 2 },
  'Redis comes back older, again and again': {
    ...{ kills: 0, drops: 8, setBacks: 12, clockJumps: 0 },
    setBacksAgain: 4,
    refusedRenewals: 0.05,
  },
} as const satisfies Record<string, Trouble>

export type TroubleName = keyof typeof TROUBLES
export const TROUBLE_NAMES = Object.keys(TROUBLES) as TroubleName[]
