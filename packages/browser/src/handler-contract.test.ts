import { downloadHandlerContract } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { Browsing, Site } from '../testing/browsing.ts'

const body = '<!DOCTYPE html><html><head></head><body><p>hällo</p></body></html>'

let site: Site
let browsing: Browsing
beforeAll(async () => {
  site = await Site.start()
  browsing = await Browsing.open()
})
afterAll(async () => {
  await browsing[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

downloadHandlerContract(
  { describe, test },
  {
    name: 'BrowserDownloadHandler',
    create: async () => {
      const gone = await Site.start()
      const unansweredUrl = `${gone.origin}/`
      await gone[Symbol.asyncDispose]()
      const url = site.html('/page', body)
      return { subject: { handler: browsing.handler, url, body, unansweredUrl }, dispose: async () => {} }
    },
  },
)
