/** Our libraries without a crawler: each with what it stands on and nothing else, installed from its packed file, and used as its README shows. */

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProcess, type TempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeBlocks } from '../docs/docs-code.ts'
import { lockEntries, productionPlaces } from './lock.ts'
import { packedFolder } from './packed-folder.ts'

const WITH_WHAT_THEY_STAND_ON = [
  ['selectors', ['url']],
  // What only the one before it needs is taken away, others' packages too.
  ['url', []],
] as const

let folder: TempDir
beforeAll(async () => {
  folder = await packedFolder([], ['@webloom/selectors', '@webloom/url'])
}, 180_000)
afterAll(() => folder?.remove())

test.each(WITH_WHAT_THEY_STAND_ON)(
  '@webloom/%s does what its README shows, with none of our packages but those it stands on',
  async (name, others) => {
    const installed = lockEntries(folder.path)
    const needed = productionPlaces(installed, `@webloom/${name}`)
    for (const place of Object.keys(installed))
      if (place !== '' && !needed.has(place)) rmSync(folder.join(place), { recursive: true, force: true })
    expect(readdirSync(folder.join('node_modules/@webloom'))).toEqual([name, ...others])
    const page = `packages/${name}/README.md`
    const examples = codeBlocks(page, readFileSync(join(import.meta.dirname, '../..', page), 'utf8')).filter(
      ({ language }) => language === 'ts',
    )
    expect(examples.length).toBeGreaterThan(0)
    for (const { code } of examples) {
      writeFileSync(folder.join('example.mts'), code)
      const { stdout, stderr } = await runProcess(process.execPath, ['example.mts'], {
        cwd: folder.path,
        env: { ...process.env },
      })
      expect(stdout, stderr).toBe(saidToPrint(code))
    }
  },
)

/** What follows each `console.log` as a comment. */
function saidToPrint(code: string): string {
  return [...code.matchAll(/^console\.log\(.*\)\n\/\/ (.*)$/gm)].map(([, line]) => `${line}\n`).join('')
}
