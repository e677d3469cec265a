/** A spider whose items have a price as long as the layout is the old one. */
export const shop = (
  seeds: readonly string[],
  hasPrices: boolean,
) => `import { type Response, Spider } from 'webloom'

export default class Pages extends Spider {
  name = 'pages'
  startUrls = ${JSON.stringify(seeds)}
  async *parse(response: Response) {
    yield { url: response.url, price: ${hasPrices ? '9.5' : 'null'}, seller: { name: 'A' } }
    yield* response.followAll()
  }
}
`
