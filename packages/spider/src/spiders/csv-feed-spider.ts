import { WebloomError } from '@webloom/core'
import type { Response } from '../responses/response.ts'
import { FRAMEWORK_CLASS, Spider } from '../spider.ts'
import { csvRows } from './csv-rows.ts'
import { outputList, outputStream, type SpiderOutput } from './spider-output.ts'

/** Reads CSV feeds: `parseRow` gets each row by the names of its columns. */
export class CSVFeedSpider extends Spider {
  static override readonly [FRAMEWORK_CLASS]: true = true
  /** The character between two fields. */
  delimiter = ','
  /** The character around a field that holds the delimiter or a line end. */
  quotechar = '"'
  /** The names of the columns. Without them the first row has them. */
  headers?: readonly string[]

  /** Gets each response before it is read, and returns it or one with another body. */
  adaptResponse(response: Response): Response | Promise<Response> {
    return response
  }

  /** Gets a row, and returns what it holds: items, requests, several, or nothing. */
  parseRow(_response: Response, _row: Record<string, string>): SpiderOutput {
    throw new WebloomError(
      'WL_CALLBACK_UNKNOWN',
      `${this.constructor.name} has no parseRow method; a CSVFeedSpider gives it each row`,
    )
  }

  /** Gets what `parseRow` returned for a row, and returns what goes on. By default all of it. */
  processResults(_response: Response, results: unknown[]): SpiderOutput {
    return results
  }

  override async *parse(received: Response): AsyncGenerator<unknown> {
    const response = await this.adaptResponse(received)
    for (const row of this.#rows(response)) {
      yield* outputStream(this.processResults(response, await outputList(this.parseRow(response, row))))
    }
  }

  #rows({ text, url }: Response): Iterable<Record<string, string>> {
    const { delimiter, quotechar, headers } = this
    const onMisfit = (fields: readonly string[], expected: number) => {
      this.crawler.stats.inc('csv/invalid_row_count')
      const row = JSON.stringify(fields).slice(0, SHOWN_CHARS_MAX)
      this.logger.warn({ url, fields: fields.length, expected }, `a row is skipped: ${row}`)
    }
    return csvRows(text, { delimiter, quotechar, headers, onMisfit })
  }
}

const SHOWN_CHARS_MAX = 200
