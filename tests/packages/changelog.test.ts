/** How lines get into CHANGELOG.md, and how a release takes them; with changesets itself, in a small repository. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { runProcess, type TempDir, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import {
  isReleased,
  releasedChangelog,
  releaseNotes,
  unreleasedLines,
} from '../../scripts/release/changelog.ts'
import { publicPackages } from '../../scripts/release/public-packages.ts'
import { makeVersion } from '../../scripts/release/version.ts'

const ROOT = join(import.meta.dirname, '../..')
const OLD = '# Changelog\n\n## Unreleased\n\n- **One** more.\n\n## 0.1.0 (2026-01-02)\n\n- **First**.\n'

test('the changelog of this repository can be released', () => {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
  const released = releasedChangelog(changelog, '9.8.7', '2026-01-02', ['- **A thing** that is new.'])
  expect(unreleasedLines(released)).toBe('')
  expect(isReleased(released, '9.8.7')).toBe(true)
  expect(releaseNotes(released, '9.8.7')).toBe(
    [unreleasedLines(changelog), '- **A thing** that is new.'].join('\n\n').trim(),
  )
})

test('a release takes lines written by hand and changesets, and gives all packages its version', async () => {
  await using folder = await smallRepository({ 'big-change': '"@webloom/core": minor' })
  expect(makeVersion(folder.path, '2026-03-04')).toBe('0.2.0')
  const said = readFileSync(folder.join('CHANGELOG.md'), 'utf8')
  expect(said).toBe(
    OLD.replace(
      '- **One** more.\n',
      '## 0.2.0 (2026-03-04)\n\n- **One** more.\n\n- **Big change** of two\n  lines.\n',
    ),
  )
  expect(JSON.parse(readFileSync(folder.join('packages/webloom/package.json'), 'utf8'))).toMatchObject({
    version: '0.2.0',
    dependencies: { '@webloom/core': '0.2.0' },
  })
})

test('without a changeset nothing becomes a version that is released', async () => {
  await using folder = await smallRepository({})
  expect(() => makeVersion(folder.path, '2026-03-04')).toThrow(
    'CHANGELOG.md has lines under "Unreleased", 0.1.0 is released, and no changeset says which version is next: npx changeset',
  )
  expect(readFileSync(folder.join('CHANGELOG.md'), 'utf8')).toBe(OLD)
})

test('the first release takes the version that is there', async () => {
  await using folder = await smallRepository({})
  writeFileSync(folder.join('CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\nThe first form.\n')
  expect(makeVersion(folder.path, '2026-03-04')).toBe('0.1.0')
  expect(readFileSync(folder.join('CHANGELOG.md'), 'utf8')).toBe(
    '# Changelog\n\n## Unreleased\n\n## 0.1.0 (2026-03-04)\n\nThe first form.\n',
  )
})

test('a branch that changes a source without a changeset is refused; with one, or with its tests alone changed, it is not', async () => {
  await using folder = await smallRepository({})
  const status = () =>
    runProcess(
      process.execPath,
      [join(ROOT, 'node_modules/@changesets/cli/bin.js'), 'status', '--since=main'],
      {
        cwd: folder.path,
      },
    )
  git(folder, 'checkout', '-q', '-b', 'change')
  commit(folder, 'packages/core/src/a.test.ts', '2')
  expect((await status()).code).toBe(0)
  commit(folder, 'packages/core/src/a.ts', '2')
  expect(await status()).toMatchObject({ code: 1 })
  commit(folder, '.changeset/small.md', '---\n"@webloom/core": patch\n---\n\n- **Small**.\n')
  expect((await status()).code).toBe(0)
})

test('what a package ships counts as a change of it', () => {
  const { changedFilePatterns } = JSON.parse(readFileSync(join(ROOT, '.changeset/config.json'), 'utf8'))
  for (const { folder } of publicPackages(ROOT)) {
    const { files } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
      files: string[]
    }
    const shipped = files
      .filter((file) => !file.startsWith('!') && file !== 'dist')
      .map((file) => (file.endsWith('.json') ? file : `${file.replace(/\/\*\*$/, '')}/a.ts`))
    const isCounted = (path: string) =>
      changedFilePatterns.some((pattern: string) => matchesGlob(path, pattern))
    expect(
      shipped.filter((path) => !isCounted(path)),
      folder,
    ).toEqual([])
  }
})

/** Two packages, our configuration of changesets, and a release behind them. */
async function smallRepository(changesets: Record<string, string>): Promise<TempDir> {
  const folder = await tempDir()
  const write = (path: string, text: string) => {
    mkdirSync(folder.join(path, '..'), { recursive: true })
    writeFileSync(folder.join(path), text)
  }
  const version = '0.1.0'
  write('package.json', JSON.stringify({ name: 'small', private: true, workspaces: ['packages/*'] }))
  write('package-lock.json', '{}')
  write('packages/core/package.json', JSON.stringify({ name: '@webloom/core', version }))
  write('packages/core/src/a.ts', '1')
  const dependencies = { '@webloom/core': version }
  write('packages/webloom/package.json', JSON.stringify({ name: 'webloom', version, dependencies }))
  write('CHANGELOG.md', OLD)
  write('.gitignore', 'node_modules\n')
  cpSync(join(ROOT, '.changeset/config.json'), join(folder.path, '.changeset/config.json'), {
    recursive: true,
  })
  for (const [name, packages] of Object.entries(changesets)) {
    write(`.changeset/${name}.md`, `---\n${packages}\n---\n\n**Big change** of two\nlines.\n`)
  }
  symlinkSync(join(ROOT, 'node_modules'), folder.join('node_modules'), 'junction')
  git(folder, 'init', '-q', '-b', 'main')
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'all')
  return folder
}

function commit(folder: TempDir, path: string, text: string): void {
  writeFileSync(folder.join(path), text)
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', path)
}

function git(folder: TempDir, ...args: string[]): void {
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false']
  execFileSync('git', [...who, ...args], { cwd: folder.path, stdio: 'pipe' })
}
