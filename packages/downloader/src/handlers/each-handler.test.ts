import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { downloadHandlerContract } from '@webloom/core/contract'
import { tempDir } from '@webloom/testkit'
import { describe, test } from 'vitest'
import { LocalSite } from '../../testing/local-site.ts'
import { HttpDownloadHandler } from '../http/http-download-handler.ts'
import { DataDownloadHandler } from './data-download-handler.ts'
import { FileDownloadHandler } from './file-download-handler.ts'

const body = '<p>hällo\r\n'

downloadHandlerContract(
  { describe, test },
  {
    name: 'HttpDownloadHandler',
    create: async () => {
      const [site, gone] = [await LocalSite.start(), await LocalSite.start()]
      site.script = (_, res) => void res.setHeader('x-n', '1').end(body)
      const unansweredUrl = `${gone.origin}/`
      await gone.close()
      const handler = new HttpDownloadHandler()
      const dispose = async () => {
        await handler.close()
        await site.close()
      }
      return { subject: { handler, url: `${site.origin}/`, body, unansweredUrl }, dispose }
    },
  },
)

downloadHandlerContract(
  { describe, test },
  {
    name: 'DataDownloadHandler',
    create: async () => {
      const url = `data:text/html;charset=utf-8,${encodeURIComponent(body)}`
      const subject = { handler: new DataDownloadHandler(), url, body, unansweredUrl: 'data:nothing' }
      return { subject, dispose: async () => {} }
    },
  },
)

downloadHandlerContract(
  { describe, test },
  {
    name: 'FileDownloadHandler',
    create: async () => {
      const dir = await tempDir()
      await writeFile(dir.join('a.html'), body)
      const handler = new FileDownloadHandler({ allowed: [dir.path], bodyBytesMax: 0 })
      const urlOf = (name: string) => pathToFileURL(dir.join(name)).href
      const subject = { handler, url: urlOf('a.html'), body, unansweredUrl: urlOf('gone.html') }
      return { subject, dispose: dir.remove }
    },
  },
)
