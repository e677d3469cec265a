import type { Child } from 'hono/jsx'

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => Child
  /** Figures stand at the right, one under another. */
  readonly isNumber?: boolean
  /** Left out where there is no room for it. */
  readonly isExtra?: boolean
}

/** With more columns than a phone is wide. */
const FOLDS_FROM = 4

/**
 * A table; its first column names the row. On a narrow screen one of many columns folds: each row is a block of named figures. One
 * that is too wide all the same scrolls by itself, and the page does not.
 */
export function Table<Row>({
  caption,
  columns,
  rows,
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
}) {
  const folds = columns.length >= FOLDS_FROM
  // A folded table is laid out as blocks: without its roles it would be no table any more to who hears it.
  const as = (role: string) => (folds ? { role } : {})
  return (
    <section class="scrolls" tabindex={0} aria-label={caption}>
      <table class={folds ? 'folds' : undefined} {...as('table')}>
        <caption class="unseen">{caption}</caption>
        <thead {...as('rowgroup')}>
          <tr {...as('row')}>
            {columns.map((column) => (
              <th scope="col" class={classOf(column)} {...as('columnheader')}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...as('rowgroup')}>
          {rows.map((row) => (
            <tr {...as('row')}>
              {columns.map((column, n) =>
                n === 0 ? (
                  <th scope="row" class={classOf(column)} {...as('rowheader')}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td class={classOf(column)} {...(folds && { role: 'cell', 'data-name': column.name })}>
                    {column.cell(row)}
                  </td>
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
