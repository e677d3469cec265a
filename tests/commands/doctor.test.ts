/** `webloom doctor` as it is typed. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { startRedis, tempDir } from '@webloom/testkit'
import { afterAll, expect, test } from 'vitest'
import { CommandLine } from '../projects/command-line.ts'
import { projectFolder } from '../projects/project-folder.ts'

const line = new CommandLine()
afterAll(() => line[Symbol.asyncDispose]())

test('webloom doctor tells all that is wrong and what to type, and no password; exit code 0 when nothing fails', async () => {
  await using redis = await startRedis({ appendonly: 'everysec', password: 'planted1' })
  await using folder = await projectFolder()
  await using elsewhere = await tempDir()
  mkdirSync(folder.join('spiders'))
  writeFileSync(
    folder.join('webloom.config.ts'),
    `export default { settings: { JOBDIR: 'webloom.config.ts/job', DOWNLOAD_DELEY: 1, REDIS_URL: '${redis.url}' } }\n`,
  )
  writeFileSync(
    folder.join('spiders/q.ts'),
    "import { Spider } from 'webloom'\nexport class Q extends Spider {\n  name = 'quotes'\n  customSettings = { SEEDS_REDIS_URL: 'redis://u:planted2@127.0.0.1:9' }\n}\n",
  )
  symlinkSync(folder.join('node_modules'), elsewhere.join('node_modules'))
  writeFileSync(
    elsewhere.join('alone.mjs'),
    "import { Spider } from 'webloom'\nexport class Alone extends Spider {\n  name = 'alone'\n}\n",
  )
  const doctor = (...words: string[]) =>
    line.run(['doctor', ...words], {
      cwd: folder.path,
      env: {
        REDIS_URL: undefined,
        RETRY_TIMES: '7',
        EDITOR: 'vi',
        https_proxy: 'http://me:planted3@proxy.example:3128',
        // What only has to be a program.
        WEBLOOM_BROWSER_EXECUTABLE: process.execPath,
        WEBLOOM_BROWSER_SANDBOX: 'false',
        NO_COLOR: '1',
      },
    })
  const [bad, well] = await Promise.all([
    doctor('quotes', '-s', `ITEMS_REDIS_URL=${redis.url.replace('planted1', 'planted4')}`),
    line.run(['doctor', 'alone.mjs', '--json'], { cwd: elsewhere.path, env: { REDIS_URL: redis.url } }),
  ])
  expect(bad.code, bad.stderr).toBe(1)
  expect(bad.stdout).toMatch(/^FAIL +settings +DOWNLOAD_DELEY .*DOWNLOAD_DELAY/m)
  expect(bad.stdout).toMatch(
    /^WARN +settings +RETRY_TIMES .*\n +export WEBLOOM_RETRY_TIMES="\$RETRY_TIMES"$/m,
  )
  expect(bad.stdout).toMatch(/^ok +Redis +redis:.*\(queue, dupefilter\)/m)
  expect(bad.stdout).toMatch(
    /^FAIL +Redis +redis:\/\/127\.0\.0\.1:9\/0 \(seeds\) does not answer.*\n +docker run/m,
  )
  expect(bad.stdout).toMatch(/^FAIL +Redis +.*WRONGPASS.*\n +export ITEMS_REDIS_URL=/m)
  expect(bad.stdout).toMatch(/^FAIL +write access +.*\(JOBDIR\).*\n +ls -l/m)
  expect(bad.stdout).toMatch(/^note +proxies +.*proxy\.example/m)
  expect(bad.stdout).toMatch(/^ok +browser +\S*node renders/m)
  expect(bad.stdout).toMatch(/4 things must be fixed, 1 warning; below each stands the line to type\.\n$/)
  expect(bad.stdout + bad.stderr).not.toContain('planted')

  const { ok, checks } = JSON.parse(well.stdout) as {
    ok: boolean
    checks: { check: string; found: string }[]
  }
  expect({ ok, code: well.code }, well.stdout).toEqual({ ok: true, code: 0 })
  expect(checks.find(({ check }) => check === 'settings')?.found).toMatch(/^no webloom\.config\.ts/)
})

/** A project of one spider. Each has a folder of its own, as a config that was loaded is not read again. */
const projectWith = (settings: object, more: Readonly<Record<string, string>> = {}) =>
  projectFolder({
    'webloom.config.ts': `export default { settings: ${JSON.stringify(settings)} }\n`,
    'spiders/q.ts':
      "import { Spider } from 'webloom'\nexport class Q extends Spider {\n  name = 'quotes'\n}\n",
    ...more,
  })

const run = (cwd: string, ...words: string[]) =>
  line.run(words, { cwd, env: { REDIS_URL: undefined, NO_COLOR: '1' } })

test.each([
  { FEEDS: { 's3://bucket': {} } },
  { FEEDS: { 'items.nothing': {} } },
  { DUPEFILTER_CLASS: 'nothing' },
  { DOWNLOAD_SLOTS: 'nothing' },
  { ITEM_PIPELINES: [['./missing.ts#Mine', 300]] },
])('what a crawl refuses at its start is wrong for the doctor, too: %j', async (settings) => {
  await using folder = await projectWith(settings)
  expect((await run(folder.path, 'crawl', 'quotes')).code).toBe(2)
  for (const words of [['doctor'], ['doctor', 'quotes']]) {
    const looked = await run(folder.path, ...words)
    expect(looked.code).toBe(1)
    expect(looked.stdout).toMatch(/^FAIL +settings +\S/m)
  }
})

test('what can be loaded, and what cannot, is told; a mistyped spider hides nothing of the config', async () => {
  await using whole = await projectWith({})
  expect((await run(whole.path, 'doctor')).stdout).toMatch(/^ok +spiders +1 can be loaded: quotes$/m)
  await using partly = await projectWith(
    {},
    {
      'spiders/broken.ts': 'export class Broken {\n',
      'spiders/odd.ts':
        "import { Spider } from 'webloom'\nexport class Odd extends Spider {\n  name = 'odd'\n  customSettings = { DOWNLOAD_DELEY: 1 }\n}\n",
    },
  )
  const broken = await run(partly.path, 'doctor')
  expect(broken.code).toBe(1)
  expect(broken.stdout).toMatch(/^FAIL +spiders +\S*broken\.ts/m)
  expect(broken.stdout).toMatch(/^FAIL +spiders +odd: DOWNLOAD_DELEY .*DOWNLOAD_DELAY/m)
  await using away = await projectWith({ REDIS_URL: 'redis://127.0.0.1:9' })
  const mistyped = await run(away.path, 'doctor', 'quots')
  expect(mistyped.stdout).toMatch(/^FAIL +settings +there is no spider "quots"\. Did you mean quotes\?/m)
  expect(mistyped.stdout).toMatch(/^FAIL +Redis +redis:\/\/127\.0\.0\.1:9\/0 .*ECONNREFUSED/m)
})
