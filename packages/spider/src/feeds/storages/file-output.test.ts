import { readFile } from 'node:fs/promises'
import { tempDir } from '@webloom/testkit'
import { describe, test } from 'vitest'
import { feedOutputContract } from '../../../testing/feed-output-contract.ts'
import { FileOutput } from './file-output.ts'

for (const overwrite of [false, true])
  feedOutputContract(
    { describe, test },
    {
      name: `FileOutput that ${overwrite ? 'replaces' : 'appends'}`,
      create: async () => {
        const dir = await tempDir()
        const path = dir.join('out.jsonl')
        const subject = {
          output: new FileOutput({ path, uri: 'out.jsonl', overwrite }),
          text: () => readFile(path, 'utf8').catch(() => undefined),
          breakIt: dir.remove,
        }
        return { subject, dispose: dir.remove }
      },
    },
  )
