import type { UsedSetting } from '../setting-row.ts'

/** What is kept of each run. */
export const MONITOR_SETTINGS = [
  {
    name: 'RUNS_DIR',
    type: 'string',
    nullable: true,
    default: null,
    since: 'webloom',
    summary:
      'Without Redis: the folder where what each run came to is kept, for `webloom runs` and monitors; below it each spider has its own. null: `.webloom/runs` in the project; outside of any project `runs` in JOBDIR, or nowhere. With Redis it is kept there.',
  },
] as const satisfies readonly UsedSetting[]
