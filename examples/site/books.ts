/** What the bookshop sells. All of it follows from a book's number, so the shop is the same wherever it runs. */

export interface Book {
  /** From 1 on. */
  readonly number: number
  readonly title: string
  readonly author: string
  readonly category: Category
  /** In pounds. */
  readonly price: number
  readonly stock: number
}

export const CATEGORIES = ['fiction', 'history', 'travel', 'crafts'] as const
export type Category = (typeof CATEGORIES)[number]

const NOUNS = ['Lantern', 'Orchard', 'Ferry', 'Loom', 'Harbour', 'Compass']
const PLACES = ['at Dusk', 'in Winter', 'of the North', 'by the River', 'without a Key', 'after Rain']
const AUTHORS = ['Mara Quill', 'Anton Reedy', 'Jo Saltmarsh', 'Edda Finch', 'Noor Tallow']

/** Each noun with each place: 36 books, nine of each category. */
export const BOOKS: readonly Book[] = NOUNS.flatMap((noun, row) =>
  PLACES.map((place, column) => {
    const number = row * PLACES.length + column + 1
    return {
      number,
      title: `The ${noun} ${place}`,
      author: AUTHORS[(row + 2 * column) % AUTHORS.length]!,
      category: CATEGORIES[number % CATEGORIES.length]!,
      price: (650 + 25 * ((11 * number) % 40)) / 100,
      stock: (7 * number) % 5,
    }
  }),
)

/** Every sixth book is listed a second time, under another address. */
export const ON_SALE: readonly Book[] = BOOKS.filter(({ number }) => number % 6 === 0)

export interface Order {
  readonly number: number
  readonly book: string
  readonly total: number
}

/** What the one customer has bought. */
export const ORDERS: readonly Order[] = BOOKS.filter(({ number }) => number % 5 === 1).map(
  ({ title, price }, index) => ({ number: 1001 + index, book: title, total: price }),
)

/** Who may log in. */
export const CUSTOMER = { name: 'reader', password: 'turn-the-page' } as const
