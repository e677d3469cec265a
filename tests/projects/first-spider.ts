/** A user's first spider in a folder of their own, beside our packages as they are installed from the registry, without a build. */

import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FakeWeb, runProcess, startFakeWeb } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

/** @param installed where our packages are, once they are: a `node_modules`. Folders are made beside its own. */
export function firstSpiderTests(installed: () => string): void {
  let web: FakeWeb
  let commands: CommandLine
  beforeAll(async () => {
    commands = new CommandLine(join(installed(), 'webloom'))
    web = await startFakeWeb({ seed: 1, pagesPerHost: 25 })
  })
  afterAll(async () => {
    await commands?.[Symbol.asyncDispose]()
    await web?.close()
  })

  /** A new one, with those packages. */
  function folderOf(name: string, packageJson = '{}'): string {
    const folder = join(installed(), '../..', name)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    symlinkSync(installed(), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), packageJson)
    return folder
  }

  test.each([
    ['commonjs', '{ "type": "commonjs" }'],
    ['module', '{ "type": "module" }'],
    ['without type', '{}'],
  ])('webloom runspider spider.ts works in a folder whose package.json is %s', async (name, packageJson) => {
    const folder = folderOf(name.replace(' ', '-'), packageJson)
    writeFileSync(
      join(folder, 'helper.ts'),
      'export const titleOf = (text: string | null): string => text ?? "none"\n',
    )
    writeFileSync(
      join(folder, 'spider.ts'),
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
    const { code, stderr } = await commands.run(['runspider', 'spider.ts', '-O', 'out.jsonl'], {
      cwd: folder,
    })
    expect(code, stderr).toBe(0)
    const items = readFileSync(join(folder, 'out.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { url: string })
    expect(new Set(items.map(({ url }) => url))).toEqual(web.reachable())
    expect(stderr).not.toMatch(/Warning/)
  })

  test('a generated spider is run as it says, also by a webloom that is installed elsewhere', async () => {
    const page = web.seeds[0]!
    const folder = folderOf('fresh')
    // As npx has it.
    const env = { npm_lifecycle_script: 'webloom "genspider" "fresh"' }
    const { stdout: said } = await commands.run(['genspider', 'fresh', page], { cwd: folder, env })
    expect(said).toBe('fresh.ts\n\nRun it:  npx webloom runspider fresh.ts\n')
    // In a process of its own: its bin hands over to the folder's webloom.
    const elsewhere = join(import.meta.dirname, '../../packages/webloom/bin/webloom.js')
    const command = ['parse', page, '--spider', 'fresh.ts', '--json']
    const [own, other] = await Promise.all([
      commands.run(command, { cwd: folder }),
      runProcess(process.execPath, [elsewhere, ...command], { cwd: folder, env: { ...process.env } }),
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
      `Object.defineProperty(process.versions, 'node', { value: '20.20.2' }); import('${join(installed(), 'webloom/bin/webloom.js')}')`,
    ])
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /needs Node 22\.19 or later; this is Node 20\.20\.2[\s\S]*npm install --save-dev node@24/,
    )
  })
}
