import { type FormVerdicts, type PageForm, type PageForms, withVerdict } from '@webloom/core'
import type { JobDatabase } from './job-database.ts'

// Some 200 bytes each. A site has tens.
const SHAPES_MAX = 4096

/** The verdicts of a crawl in its JOBDIR, so that a resumed one need not probe again. Shapes learned longest ago are forgotten first. */
export class SqlitePageForms implements PageForms {
  readonly #database: JobDatabase
  readonly #shapesMax: number
  #hasTable = false

  /** @param database opened and closed by the crawl's record */
  constructor({ database, shapesMax = SHAPES_MAX }: { database: JobDatabase; shapesMax?: number }) {
    this.#database = database
    this.#shapesMax = shapesMax
  }

  of(shape: string): FormVerdicts | undefined {
    this.#makeTable()
    const row = this.#database.get<FormVerdicts>(
      'SELECT form, agreeing FROM page_forms WHERE shape = ?',
      shape,
    )
    return row && { form: row.form, agreeing: row.agreeing }
  }

  learn(shape: string, form: PageForm): FormVerdicts {
    const { agreeing } = withVerdict(this.of(shape), form)
    this.#database.atomically(() => {
      // A new row each time: their order is that of learning.
      this.#database.run(
        'INSERT OR REPLACE INTO page_forms (shape, form, agreeing) VALUES (?, ?, ?)',
        shape,
        form,
        agreeing,
      )
      this.#database.run(
        'DELETE FROM page_forms WHERE row <= (SELECT row FROM page_forms ORDER BY row DESC LIMIT 1 OFFSET ?)',
        this.#shapesMax,
      )
    })
    return { form, agreeing }
  }

  /** Folders of earlier releases have none. */
  #makeTable(): void {
    if (this.#hasTable) return
    this.#database.run(
      'CREATE TABLE IF NOT EXISTS page_forms (row INTEGER PRIMARY KEY, shape TEXT NOT NULL UNIQUE, form TEXT NOT NULL, agreeing INTEGER NOT NULL)',
    )
    this.#hasTable = true
  }
}
