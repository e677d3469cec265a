/** What the command line loads of our packages before it knows what it is to do. */

import { join } from 'node:path'
import { runProcess } from '@webloom/testkit'
import { expect, test } from 'vitest'

const BIN = join(import.meta.dirname, '../../packages/webloom/bin/webloom.js')

test('what fetches pages is loaded by commands that fetch', async () => {
  const telling = `import { registerHooks } from 'node:module'
registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })`
  const hooks = `data:text/javascript,${encodeURIComponent(telling)}`
  const { stdout } = await runProcess(process.execPath, ['--import', hooks, BIN, '--version'])
  expect(stdout).toMatch(/webloom\/dist\/cli\.js/)
  expect(stdout).not.toMatch(/packages\/(?:downloader|queue)\/|node_modules\/(?:undici|bullmq|ioredis)\//)
})
