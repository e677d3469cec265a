import type { Logger } from '@webloom/core'
import type { DueRuns, Schedule } from '@webloom/queue'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'
import { flagWords, shownFlags } from './flag-words.ts'

/** Notices that schedules which were served are gone though nobody removed them: nothing would begin their runs, and nobody would say so. */
export class MissedSchedules {
  readonly #due: DueRuns
  readonly #logger: Logger
  #known: readonly Schedule[] = []

  constructor(due: DueRuns, logger: Logger) {
    this.#due = due
    this.#logger = logger
  }

  /** @param there all that there are now */
  async see(there: readonly Schedule[]): Promise<void> {
    if (missing(this.#known, there).length > 0) {
      // One may have been made anew while they were read.
      for (const schedule of missing(this.#known, await this.#due.schedules())) await this.#tell(schedule)
    }
    this.#known = there
  }

  async #tell(schedule: Schedule): Promise<void> {
    const { name } = schedule
    const why = `the schedule ${name} is gone from its Redis, and nobody removed it: no run of it begins any more. Was that Redis emptied, or did it come back without its data? Make it again:  ${typedSchedule(schedule)}`
    if (await this.#due.noteGone(schedule, why)) this.#logger.error({ schedule: name }, why)
  }
}

function missing(known: readonly Schedule[], there: readonly Schedule[]): Schedule[] {
  const names = new Set(there.map(({ name }) => name))
  return known.filter(({ name }) => !names.has(name))
}

/** Returns the line that makes it; `***` stands for a secret. */
function typedSchedule({ name, spider, cron, tz, flags }: Schedule): string {
  const words = [spider, cron, '--name', name, '--tz', tz, ...flagWords(shownFlags(flags))]
  return [commandName(), 'schedule', ...words.map(shellQuoted)].join(' ')
}
