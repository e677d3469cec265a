/** A user's first five minutes: our packages packed, installed into an empty folder, a spider run without a build. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FakeWeb, runProcess, startFakeWeb, type TempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { npxWebloom, packedFolder } from './packed-folder.ts'

let web: FakeWeb
let folder: TempDir

beforeAll(async () => {
  web = await startFakeWeb({ seed: 1, pagesPerHost: 25 })
  folder = await packedFolder()
}, 180_000)

afterAll(async () => {
  await web?.close()
  await folder?.remove()
})

test.each([
  ['commonjs', '{ "type": "commonjs" }'],
  ['module', '{ "type": "module" }'],
  ['without type', '{}'],
])('npx webloom runspider spider.ts works in a folder whose package.json is %s', async (_, packageJson) => {
  const { dependencies } = JSON.parse(readFileSync(folder.join('package.json'), 'utf8')) as {
    dependencies: object
  }
  writeFileSync(folder.join('package.json'), JSON.stringify({ ...JSON.parse(packageJson), dependencies }))
  writeFileSync(
    folder.join('helper.ts'),
    'export const titleOf = (text: string | null): string => text ?? "none"\n',
  )
  writeFileSync(
    folder.join('spider.ts'),
    `import { type Response, Spider } from 'webloom'
import { titleOf } from './helper'

export default class FirstSpider extends Spider {
  name = 'first'
  startUrls = ['${web.seeds[0]}']

  async *parse(response: Response) {
    yield { url: response.url, title: titleOf(response.css('title::text').get()) }
    yield* response.followAll('a', { callback: this.parse })
  }
}
`,
  )
  const { code, stderr } = await npxWebloom(folder.path, ['runspider', 'spider.ts', '-O', 'out.jsonl'])
  expect(code, stderr).toBe(0)
  const items = readFileSync(folder.join('out.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { url: string })
  expect(new Set(items.map(({ url }) => url))).toEqual(web.reachable())
  expect(stderr).not.toMatch(/Warning/)
})

test('a generated spider is run as it says, also by a webloom that is installed elsewhere', async () => {
  const page = web.seeds[0]!
  rmSync(folder.join('fresh.ts'), { force: true })
  const { stdout: said } = await npxWebloom(folder.path, ['genspider', 'fresh', page])
  expect(said).toBe('fresh.ts\n\nRun it:  npx webloom runspider fresh.ts\n')
  const elsewhere = join(import.meta.dirname, '../../packages/webloom/bin/webloom.js')
  const command = ['parse', page, '--spider', 'fresh.ts', '--json']
  const [own, other] = await Promise.all([
    npxWebloom(folder.path, command),
    runProcess(process.execPath, [elsewhere, ...command], { cwd: folder.path, env: { ...process.env } }),
  ])
  expect(JSON.parse(own.stdout), own.stderr).toEqual({
    items: [{ url: page, title: expect.any(String) }],
    requests: [],
  })
  expect(other.stdout, other.stderr).toBe(own.stdout)
})

test('an old Node is told what to do, in one message', async () => {
  const { code, stderr } = await runProcess(process.execPath, [
    '-e',
    `Object.defineProperty(process.versions, 'node', { value: '20.20.2' }); import('${folder.join('node_modules/webloom/bin/webloom.js')}')`,
  ])
  expect(code).toBe(2)
  expect(stderr).toMatch(
    /needs Node 22\.19 or later; this is Node 20\.20\.2[\s\S]*npm install --save-dev node@24/,
  )
})
