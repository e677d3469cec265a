import type { StartHosts } from '@webloom/core'
import type { JobDatabase } from './job-database.ts'

/** The start hosts of a crawl in its JOBDIR, so that a resumed one, whose `start()` has ended, knows them. */
export class SqliteStartHosts implements StartHosts {
  readonly #database: JobDatabase
  #hasTable = false

  /** @param database opened and closed by the crawl's record */
  constructor({ database }: { database: JobDatabase }) {
    this.#database = database
  }

  async add(hostAndPort: string): Promise<void> {
    this.#makeTable()
    if (await this.has(hostAndPort)) return
    this.#database.run('INSERT OR IGNORE INTO start_hosts (host) VALUES (?)', hostAndPort)
  }

  async has(hostAndPort: string): Promise<boolean> {
    this.#makeTable()
    return this.#database.get('SELECT 1 FROM start_hosts WHERE host = ?', hostAndPort) !== undefined
  }

  /** Folders of earlier releases have none. */
  #makeTable(): void {
    if (this.#hasTable) return
    this.#database.run('CREATE TABLE IF NOT EXISTS start_hosts (host TEXT PRIMARY KEY) WITHOUT ROWID')
    this.#hasTable = true
  }
}
