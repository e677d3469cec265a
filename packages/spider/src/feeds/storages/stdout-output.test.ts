import { Writable } from 'node:stream'
import { describe, test } from 'vitest'
import { feedOutputContract } from '../../../testing/feed-output-contract.ts'
import { StdoutOutput } from './stdout-output.ts'

feedOutputContract(
  { describe, test },
  {
    name: 'StdoutOutput',
    deviations: [
      {
        test: 'opening leaves nothing behind, and a crawl without items makes an output only if it is to',
        reason: 'standard output is there always, and what a crawl without items prints is its format’s text',
      },
    ],
    create: async () => {
      const chunks: Buffer[] = []
      let failure: Error | null = null
      const stream = new Writable({
        write(chunk: Buffer, _, done) {
          if (!failure) chunks.push(chunk)
          setImmediate(done, failure)
        },
      })
      const subject = {
        output: new StdoutOutput(stream),
        text: async () => Buffer.concat(chunks).toString(),
        breakIt: async () => {
          failure = Object.assign(new Error('broken pipe'), { code: 'EPIPE' })
        },
      }
      return { subject, dispose: async () => {} }
    },
  },
)
