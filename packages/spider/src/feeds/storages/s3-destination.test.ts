import { startS3Server } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { destinationContract } from '../../../testing/destination-contract.ts'
import { S3Bucket } from './s3-bucket.ts'
import { S3Destination } from './s3-destination.ts'

const keys = { accessKeyId: 'AKID', secretAccessKey: 'secret' }

destinationContract(
  { describe, test },
  {
    name: 'S3Destination',
    deviations: [
      {
        test: 'what is there is refused where it may not be replaced, and stays as it is',
        reason: 'an object is replaced always, as in Scrapy; one that must stay has another name',
      },
    ],
    create: async () => {
      const server = await startS3Server({ bucket: 'b', ...keys })
      const bucket = new S3Bucket({ bucket: 'b', region: 'us-east-1', endpoint: server.url, ...keys })
      const subject = {
        destination: new S3Destination(bucket, 'a/out.json', 's3://b/a/out.json'),
        fill: async (text: string) => void server.objects.set('a/out.json', Buffer.from(text)),
        textAt: async (name = 'a/out.json') => server.objects.get(name)?.toString(),
      }
      const dispose = async () => {
        expect(server.uploads.size, 'parts that nobody completes are paid for').toBe(0)
        await server[Symbol.asyncDispose]()
      }
      return { subject, dispose }
    },
  },
)
