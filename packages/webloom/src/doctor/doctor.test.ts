import { mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { Settings, type WrittenSettings } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { checkBrowser } from './browser.ts'
import { checkFolders } from './folders.ts'
import { checkCopies, checkOpenFiles } from './installation.ts'
import { checkProxies } from './network.ts'

const settings = (command: WrittenSettings = {}) => Settings.fromLayers({ command })

test('folders are tried by writing into them, or into those above that are there; nothing stays', async () => {
  await using folder = await tempDir()
  writeFileSync(folder.join('file'), '')
  writeFileSync(folder.join("Anna's file"), '')
  const results = await Promise.all(
    checkFolders(
      settings({
        JOBDIR: folder.join('new/job'),
        HTTPCACHE_ENABLED: true,
        HTTPCACHE_DIR: folder.join('file/cache'),
        FEEDS: { [`${folder.path}/%(name)s/out.jsonl`]: {}, '-': {}, 's3://bucket/x.jsonl': {} },
        FILES_STORE: folder.join("Anna's file"),
        LOG_FILE: '/proc/webloom/log',
      }),
    ),
  )
  const shown = results.flat().map(({ state, found }) => `${state} ${found.replaceAll(folder.path, 'F')}`)
  expect(shown.slice(1)).toEqual([
    expect.stringMatching(/^ok F\/new\/job \(JOBDIR\), .* free$/),
    'fail F/file/cache (HTTPCACHE_DIR) cannot be written: ENOTDIR: not a directory',
    "fail F/Anna's file (FILES_STORE) cannot be written: ENOTDIR: not a directory",
    expect.stringMatching(/^fail \/proc\/webloom \(LOG_FILE\) cannot be written: E/),
    expect.stringMatching(/^ok F \(FEEDS F\/%\(name\)s\/out\.jsonl\)/),
  ])
  expect(results.flat().filter(({ state, type }) => state === 'fail' && type === undefined)).toEqual([])
  expect(results.flat().map(({ type }) => type)).toContain(
    `ls -l '${folder.path}/Anna'\\''s file'    # a file; name another folder`,
  )
  expect(readdirSync(folder.path).toSorted()).toEqual(["Anna's file", 'file'])
})

test('a second copy of webloom is found, above or within a package; a link to the same is none', async () => {
  await using folder = await tempDir()
  const put = (home: string, version: string) => {
    mkdirSync(folder.join(home, '@webloom/core'), { recursive: true })
    writeFileSync(folder.join(home, '@webloom/core/package.json'), JSON.stringify({ version }))
  }
  put('node_modules', '0.1.0')
  mkdirSync(folder.join('project'))
  expect(checkCopies(folder.join('project')).state).toBe('ok')
  put('project/node_modules/@shop/spiders/node_modules', '0.0.9')
  expect(checkCopies(folder.join('project'))).toMatchObject({
    state: 'fail',
    found: expect.stringMatching(/2 times: 0\.0\.9 in .*@shop.*, 0\.1\.0 in/),
    type: expect.stringContaining('npm dedupe'),
  })
  expect(realpathSync(folder.path)).toBe(folder.path)
})

test('the browser that would render pages is told; without one, what to type, and without the package only how to get it', async () => {
  await using folder = await tempDir()
  const program = folder.join('my-chrome')
  writeFileSync(program, '', { mode: 0o755 })
  const named = (path: string) => settings({ BROWSER_EXECUTABLE: path, BROWSER_SANDBOX: false })
  expect(await checkBrowser(named(program))).toMatchObject({
    state: 'ok',
    found: expect.stringContaining(program),
  })
  expect(
    await checkBrowser(settings({ BROWSER_CDP_URL: 'http://me:planted@127.0.0.1:9222/?token=planted' })),
  ).toMatchObject({
    state: 'ok',
    found: expect.stringMatching(/^(?!.*planted).*127\.0\.0\.1:9222/),
  })
  expect(await checkBrowser(named(folder.join('gone')))).toMatchObject({
    state: 'warn',
    found: expect.stringContaining('no program that can be run'),
    type: 'webloom settings --explain BROWSER_EXECUTABLE',
  })
  expect(await checkBrowser(settings(), async () => undefined)).toMatchObject({
    state: 'info',
    type: 'npm install @webloom/browser',
  })
  const { PATH } = process.env
  process.env.PATH = folder.path
  try {
    expect(await checkBrowser(settings())).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('needs a Chromium'),
      type: expect.stringContaining('apt-get install chromium-headless-shell'),
    })
  } finally {
    process.env.PATH = PATH
  }
})

test('more requests at once than files may be open', () => {
  expect(checkOpenFiles(16).state).toBe('ok')
  expect(checkOpenFiles(100_000_000)).toMatchObject({ state: 'fail', type: 'ulimit -n 100000100' })
})

test('proxies of the environment are told without their passwords', () => {
  const env = { https_proxy: 'http://me:planted@proxy.example:3128' }
  expect(checkProxies(settings(), env)).toMatchObject({
    state: 'info',
    found: expect.stringContaining('https by http://proxy.example:3128'),
  })
  expect(checkProxies(settings({ HTTPPROXY_ENABLED: false }), env).found).toMatch(/none is used/)
  const wrong = checkProxies(settings(), { http_proxy: 'socks5://me:planted@proxy.example' })
  expect(wrong.state).toBe('fail')
  expect(JSON.stringify(wrong)).not.toContain('planted')
})
