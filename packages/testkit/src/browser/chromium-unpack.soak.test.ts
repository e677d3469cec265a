import { expect, test } from 'vitest'
import { runProcess, tempDir } from '../index.ts'
import { unpackPackage } from './chromium-install.ts'

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
