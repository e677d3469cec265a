/** Reads the settings of S3. */

import type { Settings } from '@webloom/core'
import type { S3Target } from './feed-uri.ts'
import { S3Bucket } from './s3-bucket.ts'

/** Returns why nothing can be sent there; undefined when there is a key. */
export function missingKey(target: S3Target, settings: Settings): string | undefined {
  const { accessKeyId, secretAccessKey } = keysOf(target, settings)
  if (accessKeyId && secretAccessKey) return undefined
  return 'S3 needs a key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
}

/** Returns the bucket of a target that has a key. */
export function bucketOf(target: S3Target, settings: Settings): S3Bucket {
  const { AWS_REGION, AWS_DEFAULT_REGION, AWS_SESSION_TOKEN } = process.env
  const { accessKeyId = '', secretAccessKey = '' } = keysOf(target, settings)
  return new S3Bucket({
    bucket: target.bucket,
    region: settings.get('AWS_REGION_NAME') ?? AWS_REGION ?? AWS_DEFAULT_REGION ?? 'us-east-1',
    endpoint: settings.get('AWS_ENDPOINT_URL') ?? undefined,
    accessKeyId,
    secretAccessKey,
    sessionToken: settings.get('AWS_SESSION_TOKEN') ?? AWS_SESSION_TOKEN,
    acl: settings.getString('FEED_STORAGE_S3_ACL'),
  })
}

/** Returns the keys of the URI, else of the settings, else of the environment, where other tools look for them, too. */
function keysOf({ credentials }: S3Target, settings: Settings) {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env
  return {
    accessKeyId: credentials?.accessKeyId ?? settings.get('AWS_ACCESS_KEY_ID') ?? AWS_ACCESS_KEY_ID,
    secretAccessKey:
      credentials?.secretAccessKey ?? settings.get('AWS_SECRET_ACCESS_KEY') ?? AWS_SECRET_ACCESS_KEY,
  }
}

export function s3Uri({ bucket, key }: S3Target): string {
  return `s3://${bucket}/${key}`
}
