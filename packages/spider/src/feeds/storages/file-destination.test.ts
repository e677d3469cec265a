import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { tempDir } from '@webloom/testkit'
import { describe, test } from 'vitest'
import { destinationContract } from '../../../testing/destination-contract.ts'
import { FileDestination } from './file-destination.ts'

destinationContract(
  { describe, test },
  {
    name: 'FileDestination',
    create: async () => {
      const dir = await tempDir()
      const path = dir.join('below/out.json')
      const subject = {
        destination: new FileDestination(path, 'a JSON array'),
        fill: async (text: string) => {
          await mkdir(dir.join('below'), { recursive: true })
          await writeFile(path, text)
        },
        textAt: (name = path) => readFile(name, 'utf8').catch(() => undefined),
      }
      return { subject, dispose: dir.remove }
    },
  },
)
