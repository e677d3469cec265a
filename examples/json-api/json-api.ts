import { JsonRequest, Request, type Response, Spider } from 'webloom'

interface Book {
  number: number
  title: string
  author: string
  price: number
}

/** Reads a JSON API page by page, and asks for more about each page's books by POST. */
export default class BooksApiSpider extends Spider {
  override name = 'books-api'
  site = 'http://127.0.0.1:8000/'

  override *start() {
    yield new Request(`${this.site}api/books`)
  }

  override *parse(response: Response) {
    // The type is what you expect of this API; a schema would check it (docs/items.md).
    const { books, next } = response.json<{ books: Book[]; next: string | null }>()
    // The answer says where the next page is. Where it gives a number only, count: `?page=${page + 1}`.
    if (next !== null) yield response.follow(next)
    yield new JsonRequest(new URL('/api/stock', response.url), {
      data: { numbers: books.map(({ number }) => number) },
      callback: this.parseStock,
      // What the callback needs of this page goes along. It is JSON, so that another process can go on with it.
      cbKwargs: { books: books.map((book) => ({ ...book })) },
    })
  }

  *parseStock(response: Response, { books }: { books: Book[] }) {
    const { stock } = response.json<{ stock: Record<string, number> }>()
    for (const book of books) yield { ...book, stock: stock[book.number] ?? 0 }
  }
}
