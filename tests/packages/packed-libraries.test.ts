/** Our libraries without a crawler: each installed with what it stands on and nothing else, from its packed file, and used as its README shows. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProcess } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { codeBlocks } from '../docs/docs-code.ts'
import { packedFolder } from './packed-folder.ts'

test.each([
  ['url', []],
  ['selectors', ['url']],
])(
  '@webloom/%s does what its README shows, with none of our packages but those it stands on',
  async (name, others) => {
    await using folder = await packedFolder(
      [],
      [name, ...others].map((one) => `@webloom/${one}`),
    )
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
  180_000,
)

/** What follows each `console.log` as a comment. */
function saidToPrint(code: string): string {
  return [...code.matchAll(/^console\.log\(.*\)\n\/\/ (.*)$/gm)].map(([, line]) => `${line}\n`).join('')
}
