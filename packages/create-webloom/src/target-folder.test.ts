import { mkdirSync, writeFileSync } from 'node:fs'
import { tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { targetFolder } from './target-folder.ts'

const nameOf = (written: string) => targetFolder(written, '/nowhere').packageName

test('the last part of the path names the package', () => {
  expect(targetFolder('my-crawler', '/nowhere')).toEqual({
    path: '/nowhere/my-crawler',
    packageName: 'my-crawler',
  })
  expect(nameOf('deep/down/crawler.2_b')).toBe('crawler.2_b')
  expect(nameOf('/tmp/nowhere/other/')).toBe('other')
  expect(targetFolder('.', '/nowhere/here')).toEqual({ path: '/nowhere/here', packageName: 'here' })
})

test.each([
  ['My Crawler', /"My Crawler" cannot be the project's name: small letters.*Try my-crawler$/],
  ['.hidden', /Try hidden$/],
  ['übung', /Try bung$/],
  ['***', /Try my-crawler$/],
  ['webloom', /a package that it needs has that name\. Try my-webloom$/],
  ['Node_Modules', /Try my-node_modules$/],
  ['crawler.', /no stop at the end\. Try crawler$/],
  ['CON', /Try my-con$/],
  ['nul.d', /on Windows it is a device\. Try my-nul\.d$/],
  ['x'.repeat(215), /it has 215 characters, and 214 are the most/],
  [' ', /the name is empty/],
  ['/', /"" cannot be the project's name/],
])('%j is not a name for a package', (written, message) => {
  expect(() => targetFolder(written, '/nowhere')).toThrow(message)
})

test('a folder is empty or new; a repository without files is empty', async () => {
  await using folder = await tempDir()
  mkdirSync(folder.join('empty/.git'), { recursive: true })
  expect(targetFolder('empty', folder.path).path).toBe(folder.join('empty'))
  writeFileSync(folder.join('empty/notes.md'), '')
  expect(() => targetFolder('empty', folder.path)).toThrow(
    'the folder empty is not empty: it has notes.md. Choose another name, or an empty folder',
  )
  mkdirSync(folder.join('empty/src'))
  expect(() => targetFolder('empty', folder.path)).toThrow('it has notes.md and 1 more')
  expect(() => targetFolder('empty/notes.md', folder.path)).toThrow('is a file')
  expect(() => targetFolder('empty/notes.md/crawler', folder.path)).toThrow('or within one')
})
