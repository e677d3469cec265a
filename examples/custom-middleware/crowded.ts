import { type Response, type SettingsInput, Spider } from 'webloom'
import { BusyPages } from './busy-pages.ts'

/** Reads the pages of a shop that is too busy for each first visit. */
export default class CrowdedSpider extends Spider {
  override name = 'crowded'
  override startUrls = ['http://127.0.0.1:8000/crowded/']
  override customSettings: SettingsInput = {
    // Lower than 590, where bodies are decompressed on their way back: this middleware reads the text.
    DOWNLOADER_MIDDLEWARES: [[BusyPages, 543]],
    CUSTOM_BUSY_TEXT: 'Too many visitors',
  }

  override *parse(response: Response) {
    yield* response.followAll('.book a', { callback: this.parseBook })
  }

  *parseBook(response: Response) {
    yield { url: response.url, title: response.css('h1::text').get() }
  }
}
