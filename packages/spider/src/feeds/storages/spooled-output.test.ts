import { readFile } from 'node:fs/promises'
import { silentLogger } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { describe, test } from 'vitest'
import { feedOutputContract } from '../../../testing/feed-output-contract.ts'
import { linesLayout } from '../formats/spool-layout.ts'
import { FileDestination } from './file-destination.ts'
import { SpooledOutput } from './spooled-output.ts'

feedOutputContract(
  { describe, test },
  {
    name: 'SpooledOutput',
    create: async () => {
      const dir = await tempDir()
      const path = dir.join('out.json')
      const output = new SpooledOutput({
        spoolPath: `${path}.spool`,
        uri: 'out.json',
        destination: new FileDestination(path, 'a file'),
        layout: linesLayout,
        overwrite: false,
        logger: silentLogger,
      })
      const text = () => readFile(path, 'utf8').catch(() => undefined)
      return { subject: { output, text, breakIt: dir.remove }, dispose: dir.remove }
    },
  },
)
