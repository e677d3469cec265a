import type { Child } from 'hono/jsx'

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => Child
  /** Figures stand at the right, one under another. */
  readonly isNumber?: boolean
  /** Left out where there is no room for it. */
  readonly isExtra?: boolean
}

/** A table; its first column names the row. On a narrow screen it scrolls by itself, and the page does not. */
export function Table<Row>({
  caption,
  columns,
  rows,
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
}) {
  return (
    <section class="scrolls" tabindex={0} aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={classOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column, n) =>
                n === 0 ? (
                  <th scope="row" class={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td class={classOf(column)}>{column.cell(row)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function classOf({ isNumber, isExtra }: Pick<Column<unknown>, 'isNumber' | 'isExtra'>): string | undefined {
  return [isNumber && 'number', isExtra && 'extra'].filter(Boolean).join(' ') || undefined
}
