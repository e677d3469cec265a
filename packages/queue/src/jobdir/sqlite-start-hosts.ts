import type { StartHosts } from '@webloom/core'
import type { JobDatabase } from './job-database.ts'

/** The start hosts of a crawl in its JOBDIR, so that a resumed one, whose `start()` has ended, knows them. */
export class SqliteStartHosts implements StartHosts {
  readonly #database: JobDatabase
  #hasTables = false

  /** @param database opened and closed by the crawl's record */
  constructor({ database }: { database: JobDatabase }) {
    this.#database = database
  }

  async add(hostAndPort: string): Promise<void> {
    this.#makeTables()
    if (this.#database.get('SELECT 1 FROM start_hosts WHERE host = ?', hostAndPort) !== undefined) return
    this.#database.run('INSERT OR IGNORE INTO start_hosts (host) VALUES (?)', hostAndPort)
  }

  async has(hostAndPort: string): Promise<boolean> {
    this.#makeTables()
    return (
      this.#database.get(
        'SELECT 1 FROM start_hosts WHERE host = ? AND host NOT IN (SELECT host FROM public_hosts)',
        hostAndPort,
      ) !== undefined
    )
  }

  async notePublic(hostAndPort: string): Promise<void> {
    if (!(await this.has(hostAndPort))) return
    this.#database.run('INSERT OR IGNORE INTO public_hosts (host) VALUES (?)', hostAndPort)
  }

  /** Folders of earlier releases have none. */
  #makeTables(): void {
    if (this.#hasTables) return
    for (const table of ['start_hosts', 'public_hosts'])
      this.#database.run(`CREATE TABLE IF NOT EXISTS ${table} (host TEXT PRIMARY KEY) WITHOUT ROWID`)
    this.#hasTables = true
  }
}
