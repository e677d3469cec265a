import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { OWN_NODE } from './node-version.ts'
import { commandsOf, type PackageManager, packageManagerOf } from './package-manager.ts'
import { templateNamed } from './templates.ts'
import { writeProject } from './write-project.ts'

const VERSIONS = { webloom: '3.2.1', node: '24.21.0', manager: 'npm' } as const

test('the project has its name, our version, and the files under the names that npm would not have packed', async () => {
  await using folder = await tempDir()
  const path = folder.join('deep/down')
  writeProject(templateNamed('quotes'), { path, packageName: 'mine' }, VERSIONS)
  expect(readdirSync(path)).toEqual(
    expect.arrayContaining(['.gitignore', '.vscode', 'package.json', 'spider.ts', 'tsconfig.json']),
  )
  expect(existsSync(join(path, '_gitignore'))).toBe(false)
  const written = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  expect(written).toMatchObject({ name: 'mine', dependencies: { webloom: '3.2.1' } })
  expect(Object.keys(written.devDependencies)).toEqual(['@types/node', 'typescript'])
  // It tells of the template, not of the project.
  expect(written.description).toBeUndefined()
})

test('each package of ours that a template needs is asked for at our version', async () => {
  await using folder = await tempDir()
  const path = folder.join('mine')
  writeProject(templateNamed('browser'), { path, packageName: 'mine' }, VERSIONS)
  const { dependencies } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  expect(dependencies).toEqual({ '@webloom/browser': '3.2.1', webloom: '3.2.1' })
})

test.each([
  ['20.20.2', OWN_NODE],
  ['22.18.9', OWN_NODE],
  ['22.19.0', undefined],
  ['25.0.0', undefined],
])('on Node %s the project brings along %s', async (node, own) => {
  await using folder = await tempDir()
  writeProject(
    templateNamed('quotes'),
    { path: folder.join('mine'), packageName: 'mine' },
    { ...VERSIONS, node },
  )
  const { devDependencies } = JSON.parse(readFileSync(folder.join('mine/package.json'), 'utf8'))
  expect(devDependencies.node).toBe(own)
})

test('with a Node of its own, the debugger runs by that, and npm does not warn of the machine’s', async () => {
  await using folder = await tempDir()
  const written = (name: string, node: string, manager: PackageManager) => {
    const path = folder.join(name)
    writeProject(templateNamed('quotes'), { path, packageName: name }, { ...VERSIONS, node, manager })
    const launch = readFileSync(join(path, '.vscode/launch.json'), 'utf8').replaceAll(/^\s*\/\/.*$/gm, '')
    const programs = JSON.parse(launch).configurations.map(
      (one: { runtimeExecutable?: string }) => one.runtimeExecutable,
    )
    return { programs, npmrc: existsSync(join(path, '.npmrc')) }
  }
  const own = `\${workspaceFolder}/node_modules/node/bin/node`
  expect(written('old', '20.20.2', 'npm')).toEqual({ programs: [own, own], npmrc: true })
  expect(written('old-pnpm', '20.20.2', 'pnpm')).toEqual({ programs: [own, own], npmrc: false })
  expect(written('new', '22.19.0', 'npm')).toEqual({ programs: [undefined, undefined], npmrc: false })
})

test('the Node that it brings along is the one that is tested here', () => {
  const root = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'))
  expect(root.devDependencies.node).toBe(OWN_NODE)
})

test.each([
  ['npm', []],
  ['pnpm', ['pnpm-workspace.yaml']],
  ['yarn', ['.yarnrc.yml']],
  ['bun', []],
] as const)('by %s the project gets %j of its own', async (manager, own) => {
  await using folder = await tempDir()
  const written = (name: string, by: PackageManager) => {
    writeProject(
      templateNamed('quotes'),
      { path: folder.join(name), packageName: name },
      { ...VERSIONS, manager: by },
    )
    return readdirSync(folder.join(name))
  }
  const usual = written('usual', 'npm')
  expect(written('mine', manager).filter((name) => !usual.includes(name))).toEqual(own)
})

test('a project that cannot be written leaves nothing behind', async () => {
  await using folder = await tempDir()
  const broken = { ...templateNamed('quotes'), path: folder.join('broken') }
  mkdirSync(broken.path)
  writeFileSync(join(broken.path, 'package.json'), 'no JSON')
  const path = folder.join('new/mine')
  expect(() => writeProject(broken, { path, packageName: 'mine' }, VERSIONS)).toThrow(
    /mine cannot be written: /,
  )
  expect(existsSync(folder.join('new'))).toBe(false)
  // Where a folder cannot be made the recursive mkdir of Node 20 never ends.
  writeFileSync(folder.join('file'), '')
  const below = { path: folder.join('file/deep/mine'), packageName: 'mine' }
  expect(() => writeProject(templateNamed('quotes'), below, VERSIONS)).toThrow(
    /mine cannot be written: ENOTDIR/,
  )
  // Nor in a folder that was there: only the repository stays.
  mkdirSync(folder.join('there/.git'), { recursive: true })
  const there = { path: folder.join('there'), packageName: 'there' }
  expect(() => writeProject(broken, there, VERSIONS)).toThrow('there cannot be written')
  expect(readdirSync(there.path)).toEqual(['.git'])
})

test('what is not ours is neither replaced nor deleted, though it came while a template was chosen', async () => {
  await using folder = await tempDir()
  const path = folder.join('mine')
  mkdirSync(path)
  writeFileSync(join(path, 'tsconfig.json'), 'theirs')
  writeFileSync(join(path, 'notes.md'), 'theirs')
  symlinkSync(folder.join('gone/away'), folder.join('link'))
  const write = (name: string) =>
    writeProject(templateNamed('quotes'), { path: folder.join(name), packageName: name }, VERSIONS)
  expect(() => write('mine')).toThrow(/cannot be written: EEXIST/)
  expect(() => write('link')).toThrow(/cannot be written: E/)
  expect(readdirSync(path).toSorted()).toEqual(['notes.md', 'tsconfig.json'])
  expect(readFileSync(join(path, 'tsconfig.json'), 'utf8')).toBe('theirs')
  expect(readlinkSync(folder.join('link'))).toBe(folder.join('gone/away'))
})

test('the package manager that started the command is the one in the next steps', () => {
  expect(packageManagerOf('pnpm/12.21.0 npm/? node/v24.21.0 linux x64')).toBe('pnpm')
  expect(packageManagerOf('yarn/1.22.22 npm/? node/v24.21.0 linux x64')).toBe('yarn')
  expect(packageManagerOf('npm/11.19.1 node/v24.21.0 linux x64 workspaces/false')).toBe('npm')
  expect(packageManagerOf(undefined)).toBe('npm')
  expect(packageManagerOf('cnpm/9')).toBe('npm')
  expect(commandsOf('pnpm')).toEqual(['pnpm install', 'pnpm start'])
  expect(commandsOf('bun')).toEqual(['bun install', 'bun run start'])
})
