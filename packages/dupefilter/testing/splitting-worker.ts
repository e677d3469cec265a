/** A worker process for the tests: asks about pages until it is killed, and prints each that it was told is new. */
import { Redis } from 'ioredis'
import { SplittableBloomDupeFilter } from '../src/splittable/splittable-bloom-dupefilter.ts'
import { pages } from './pages.ts'

const { url, ...options } = JSON.parse(process.argv[2]!) as { url: string; key: string }
const filter = new SplittableBloomDupeFilter({ redis: new Redis(url), ...options })
await filter.open()
for (let from = 0; ; from += 30) {
  const numbers = Array.from({ length: 30 }, (_, n) => from + n)
  const seen = await filter.requestsSeen(pages(from, 30), `page ${from}`)
  await filter.settled(`page ${from}`)
  console.log(JSON.stringify(numbers.filter((_, at) => !seen[at])))
}
