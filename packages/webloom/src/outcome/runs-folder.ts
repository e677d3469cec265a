import { join, resolve } from 'node:path'
import { type CrawlName, crawlQueueName, type Settings } from '@webloom/core'

/** In a project, beside what crawls keep there for other reasons. */
const IN_PROJECT = join('.webloom', 'runs')
const IN_JOBDIR = 'runs'

export interface RunsPlaces {
  /** Folder from which relative paths are meant. */
  readonly folder: string
  /** Folder of the project; undefined outside of any. */
  readonly project: string | undefined
}

/**
 * Returns where the runs of a crawl without Redis are kept; undefined: nowhere. It is the project, not its JOBDIR: that folder goes when a crawl is to
 * be begun anew, and the runs before are what the next ones are compared with.
 */
export function runsFolder(
  settings: Settings,
  crawl: CrawlName,
  { folder, project }: RunsPlaces,
): string | undefined {
  const name = crawlQueueName(crawl).slice(1, -1)
  const chosen = settings.get('RUNS_DIR')
  if (chosen !== null) return chosen === '' ? undefined : join(resolve(folder, chosen), name)
  if (project !== undefined) return join(project, IN_PROJECT, name)
  const jobDir = settings.get('JOBDIR')
  return jobDir ? join(resolve(jobDir), IN_JOBDIR, name) : undefined
}
