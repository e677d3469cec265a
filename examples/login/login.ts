import { CloseSpider, FormRequest, Request, type Response, Spider } from 'webloom'

/** Logs in as a browser does, then reads pages that only a customer sees. */
export default class OrdersSpider extends Spider {
  override name = 'orders'
  site = 'http://127.0.0.1:8000/'
  user = 'reader'
  // In your own spider take it from the environment, not from the file: process.env.SHOP_PASSWORD.
  password = 'turn-the-page'

  override *start() {
    // The form first: it has a hidden token, and its answer sets the cookie that the token belongs to.
    yield new Request(`${this.site}login/`, { callback: this.logIn })
  }

  *logIn(response: Response) {
    // What the form holds already, the token too, is sent along. Cookies are kept and sent back by themselves.
    yield FormRequest.fromResponse(response, {
      formdata: { username: this.user, password: this.password },
      callback: this.parse,
    })
  }

  override *parse(response: Response) {
    // Sites answer a wrong password with 200 and the form again, so ask the page, not the status.
    if (response.css('.customer').length === 0)
      throw new CloseSpider(`login_failed: ${response.css('.problem::text').get('no reason given')}`)
    for (const order of response.css('.order')) {
      yield {
        number: Number(order.css('.number::text').get()),
        book: order.css('.title::text').get(),
        total: Number(order.css('.total::text').reFirst(/[\d.]+/)),
      }
    }
    yield* response.followAll('.next')
  }
}
