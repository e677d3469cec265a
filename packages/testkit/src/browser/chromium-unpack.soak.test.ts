import { writeFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { runProcess, tempDir } from '../index.ts'
import { unpackPackage } from './chromium-install.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('a package that is unpacked without any rights runs, with the libraries that are missing here', async () => {
  await using folder = await tempDir()
  expect(await unpackPackage(folder.path)).toEqual([])
  const page = 'data:text/html,<script>document.write(1 + 1)</script>'
  const { stdout, stderr } = await runProcess(folder.join('chromium-headless-shell'), [
    '--no-sandbox',
    '--dump-dom',
    page,
  ])
  expect(stdout, stderr).toContain('2</body>')
})

test('on a machine that has nothing installed, words have letters', async () => {
  await using folder = await tempDir()
  writeFileSync(folder.join('apt.conf'), 'Dir::State::status "/dev/null";')
  vi.stubEnv('APT_CONFIG', folder.join('apt.conf'))
  expect(await unpackPackage(folder.join('unpacked'))).toEqual([])
  // As if the system had no fonts, wherever it has them.
  writeFileSync(folder.join('no-fonts.conf'), '<fontconfig/>')
  const page =
    'data:text/html,<b>word</b><script>document.title = document.querySelector("b").offsetWidth</script>'
  const { stdout, stderr } = await runProcess(
    folder.join('unpacked/chromium-headless-shell'),
    ['--no-sandbox', '--dump-dom', page],
    { env: { FONTCONFIG_FILE: folder.join('no-fonts.conf') } },
  )
  expect(stdout, stderr).toMatch(/<title>[1-9]\d*<\/title>/)
})
