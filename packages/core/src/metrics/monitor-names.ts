/** Keys of a spider's `monitors`, and begin the ids of what they find; `coverageDrop` finds what `coverage` does. */
export const MONITOR_NAMES = [
  'items',
  'coverage',
  'coverageDrop',
  'statuses',
  'errors',
  'warnings',
  'criticals',
  'exceptions',
  'retries',
  'requests',
  'invalidItems',
  'successes',
  'finishReasons',
  'maxMinutes',
  'custom',
] as const

export type MonitorName = (typeof MONITOR_NAMES)[number]
