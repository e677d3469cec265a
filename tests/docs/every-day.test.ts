/** docs/guides/every-day.md as a reader does it: its files are written, its lines typed, and what breaks is told as the page says. */

import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startProcess, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { CLI, projectFolder } from '../projects/project-folder.ts'
import { codeBlocks, commandLines } from './docs-code.ts'

const ROOT = join(import.meta.dirname, '../..')
/** What `npm create webloom` writes when it is asked for nothing else. */
const TEMPLATE = join(ROOT, 'packages/create-webloom/templates/quotes')
const page = readFileSync(join(ROOT, 'docs/guides/every-day.md'), 'utf8')
const scripts = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code!)

async function projectOfPage() {
  const folder = await projectFolder({ 'package.json': '{ "type": "module" }' })
  for (const name of ['spider.ts', 'site.ts', 'page.html'])
    copyFileSync(join(TEMPLATE, name), folder.join(name))
  const config = codeBlocks('every-day.md', page).find(({ code }) => code.includes('defineConfig('))!
  writeFileSync(folder.join('webloom.config.ts'), config.code)
  return folder
}

const RUN_OF_ALL = /finished .* pages 3 +items 6 /

/** A webhook that keeps what it is sent. */
async function startWebhook() {
  const texts: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    texts.push(text)
    response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    texts,
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

test('each line of the page does what it says, and the message of a layout that broke is the one that it shows', async () => {
  await using folder = await projectOfPage()
  await using redis = await startRedis()
  await using hook = await startWebhook()
  await using line = new CommandLine()
  const exported: Readonly<Record<string, string>> = {
    WEBLOOM_MONITOR_WEBHOOKS: `http://${hook.host}/hook`,
    WEBLOOM_PRIVATE_ADDRESSES_ALLOWED: hook.host,
    REDIS_URL: redis.url,
  }
  expect(new Set([...page.matchAll(/export (\w+)=/g)].map(([, name]) => name))).toEqual(
    new Set(Object.keys(exported)),
  )
  const { REDIS_URL: _none, ...withoutRedis } = exported
  const typed = scripts.flatMap((code) => commandLines('sh', code))
  expect(typed.map((words) => words.slice(0, 2).join(' '))).toEqual([
    ...['crawl quotes', 'runs quotes', 'monitors test'],
    ...['schedule quotes', 'worker --all', 'schedule run', 'runs quotes'],
  ])
  const [crawl, runs, tryMonitors, schedule, serve, run] = typed as [string[], ...string[][]]
  const type = async (words: readonly string[] | undefined, env = exported) => {
    const { code, stdout, stderr } = await line.run(words!, { cwd: folder.path, env })
    expect(code, `${words!.join(' ')}\n${stderr}`).toBe(0)
    return stdout
  }
  await using _worker = startProcess(process.execPath, [CLI, ...serve!], { cwd: folder.path, env: exported })

  // Its first run goes on beside the first steps, as that saves seconds.
  await type(schedule)
  await type(run)

  await type(crawl, withoutRedis)
  expect(await type(runs, withoutRedis)).toMatch(RUN_OF_ALL)
  expect(readdirSync(folder.path).filter((name) => /^items-.*\.jsonl$/.test(name))).toHaveLength(1)
  await type(tryMonitors, withoutRedis)
  expect(hook.texts.splice(0)).toEqual([expect.stringContaining('this is a test')])

  await vi.waitFor(async () => expect(await type(runs)).toMatch(RUN_OF_ALL), 30_000)
  expect(hook.texts).toEqual([])
  expect(await type(['schedule', 'list'])).toMatch(
    /: finished after .*: 3 pages, 6 items, no alert\n {4}webloom runs quotes\n/,
  )

  const [, now, before] = /say `(.+?)` for `(.+?)`/.exec(page)!
  const spider = readFileSync(folder.join('spider.ts'), 'utf8')
  expect(spider).toContain(before)
  writeFileSync(folder.join('spider.ts'), spider.replace(before!, now!))
  const [, told] = /the webhook has it: \*(.+?)\*/.exec(page)!
  await type(run)
  await vi.waitFor(() => expect(hook.texts.join('\n')).toContain(told), 30_000)
  expect(hook.texts[0]).toContain('http://quotes.test/')
})
