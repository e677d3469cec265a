/** A user's first five minutes: our packages packed, installed into an empty folder, a spider run without a build. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FakeWeb, runProcess, startFakeWeb, type TempDir, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const PACKAGES = readdirSync(join(ROOT, 'packages')).filter((name) => name !== 'testkit')

let web: FakeWeb
let folder: TempDir

beforeAll(async () => {
  web = await startFakeWeb({ seed: 1, pagesPerHost: 25 })
  folder = await tempDir()
  const workspaces = PACKAGES.flatMap((name) => ['--workspace', `packages/${name}`])
  await npm(['pack', '--pack-destination', folder.path, ...workspaces], ROOT)
  const tarballs = readdirSync(folder.path).filter((name) => name.endsWith('.tgz'))
  expect(tarballs).toHaveLength(PACKAGES.length)
  writeFileSync(folder.join('package.json'), '{}')
  await npm(
    ['install', '--prefer-offline', '--no-audit', '--no-fund', ...tarballs.map((name) => `./${name}`)],
    folder.path,
  )
}, 180_000)

afterAll(async () => {
  await web?.close()
  await folder?.remove()
})

async function npm(args: readonly string[], cwd: string): Promise<void> {
  const { code, stderr } = await runProcess('npm', args, { cwd, env: { ...process.env }, timeoutMs: 170_000 })
  expect(code, stderr).toBe(0)
}

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
  const { code, stderr } = await runProcess('npx', ['webloom', 'runspider', 'spider.ts', '-O', 'out.jsonl'], {
    cwd: folder.path,
    env: { ...process.env },
    timeoutMs: 30_000,
  })
  expect(code, stderr).toBe(0)
  const items = readFileSync(folder.join('out.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { url: string })
  expect(new Set(items.map(({ url }) => url))).toEqual(web.reachable())
  expect(stderr).not.toMatch(/Warning/)
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
