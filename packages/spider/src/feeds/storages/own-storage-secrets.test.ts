import { describe, expect, test } from 'vitest'
import { shownUri } from './feed-uri.ts'
import { OwnDestination } from './own-storage.ts'

test.each([
  ['http://bob:s3cr3tpw@host/out.jsonl', 'http://host/out.jsonl'],
  ['sftp://host/a@b.jsonl', 'sftp://host/a@b.jsonl'],
  ['https://h/out.jsonl?sv=2024&sig=s3cr3tpw%3D', 'https://h/out.jsonl?sv=2024&sig=***'],
  ['https://h/o?X-Amz-Date=1&X-Amz-Signature=s3cr3tpw', 'https://h/o?X-Amz-Date=1&X-Amz-Signature=***'],
  ['https://h/o?design=a', 'https://h/o?design=a'],
])('%s is shown as %s', (uri, shown) => {
  expect(shownUri(uri)).toBe(shown)
})

describe('what a storage throws', () => {
  const uri = 'http://bob:s3cr%33tpw@host/out.jsonl?sig=s1gn3d'

  test.each([
    ['the URI', `cannot put to ${uri}`],
    ['the URI as a URL', `no credentials: ${new URL(uri).href}`],
    ['the password as it is meant', 'the password s3cr3tpw is wrong'],
  ])('has no secret where it holds %s: in message, stack, causes and fields', async (_what, message) => {
    const thrown = Object.assign(new TypeError(message, { cause: new Error(message) }), {
      code: 'EPROTO',
      request: { uri },
    })
    const store = () => Promise.reject(thrown)
    const own = new OwnDestination({ store }, { kind: 'own', scheme: 'http', uri })
    const error: Error = await own.put((async function* () {})()).catch((reason) => reason)
    expect(error).toMatchObject({ name: 'TypeError', code: 'EPROTO' })
    const told = [error.message, error.stack, (error.cause as Error).stack, JSON.stringify(error)].join()
    expect(told).not.toMatch(/s3cr|s1gn3d/)
    expect(error.message).toContain(message.slice(0, 8))
  })
})
