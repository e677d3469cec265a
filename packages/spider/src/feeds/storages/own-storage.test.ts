import { describe, expect, test } from 'vitest'
import { destinationContract } from '../../../testing/destination-contract.ts'
import { failed, unwritable } from './output-errors.ts'
import { type FeedStorage, OwnDestination } from './own-storage.ts'

/** A storage as a user writes one. */
class Shelf implements FeedStorage {
  readonly texts = new Map<string, string>()

  async store(uri: string, output: AsyncIterable<Uint8Array>): Promise<void> {
    const pieces: Uint8Array[] = []
    for await (const piece of output) pieces.push(piece)
    this.texts.set(uri, Buffer.concat(pieces).toString())
  }

  holds(uri: string): boolean {
    return (this.texts.get(uri) ?? '') !== ''
  }

  setAside(uri: string): string {
    const name = `${uri}.${this.texts.size}`
    this.texts.set(name, this.texts.get(uri)!)
    return name
  }
}

const URI = 'shelf://a/out.json'
const target = { kind: 'own', uri: URI, scheme: 'shelf' } as const

destinationContract(
  { describe, test },
  {
    name: 'OwnDestination',
    create: async () => {
      const shelf = new Shelf()
      const subject = {
        destination: new OwnDestination(shelf, target),
        fill: async (text: string) => void shelf.texts.set(URI, text),
        textAt: async (name = URI) => shelf.texts.get(name),
      }
      return { subject, dispose: async () => {} }
    },
  },
)

test('a storage of store() alone is taken to be empty, and cannot set anything aside', async () => {
  const destination = new OwnDestination({ store: async () => {} }, target)
  expect(await destination.open(false)).toBe('nothing')
  await expect(destination.setAside()).rejects.toThrow(/has no setAside\(uri\)/)
})

test.each([
  ['undefined', undefined],
  ['null', null],
  ['200 (a number)', 200],
  ['an object', { exists: false }],
])('a holds() that gives %s is refused, before anything is replaced', async (shown, given) => {
  class Held {
    holds = () => given as never
    store = async () => {}
  }
  for (const mayReplace of [true, false])
    await expect(new OwnDestination(new Held(), target).open(mayReplace)).rejects.toThrow(
      `Held.holds() gave ${shown}; expected true where the place holds an output, else false`,
    )
})

test('a storage gets no empty piece, which would be the end of a body that fetch of Node 22 sends', async () => {
  async function* pieces() {
    for (const text of ['', 'one', '', 'two', '']) yield Buffer.from(text)
  }
  const got: string[] = []
  const store = async (_uri: string, output: AsyncIterable<Uint8Array>) => {
    for await (const piece of output) got.push(Buffer.from(piece).toString())
  }
  await new OwnDestination({ store }, target).put(pieces())
  expect(got).toEqual(['one', 'two'])
})

test.each<[string, FeedStorage]>([
  ['nothing', { store: async () => {} }],
  [
    'a part',
    {
      store: async (_uri, output) => {
        for await (const _piece of output) return
      },
    },
  ],
])('a storage that ends when it has read %s has not stored the output', async (_read, storage) => {
  async function* pieces() {
    yield Buffer.from('one')
    yield Buffer.from('two')
  }
  await expect(new OwnDestination(storage, target).put(pieces())).rejects.toThrow(
    'Object.store() ended before it had read the whole output',
  )
})

describe('what such a storage throws', () => {
  const spool = '/tmp/feeds/shelf/a/out.json'

  test('before the crawl: the URI, the reason, and nothing that the user never wrote', async () => {
    const { message } = await unwritable(URI, spool, new Error('it holds something; use -O to replace it'))
    expect(message).toBe(`${URI} cannot be written: it holds something; use -O to replace it.`)
  })

  test('at its end: the reason, and where the items are', () => {
    const { message } = failed(
      URI,
      new Error('the server answered PUT with 500'),
      `The items are in ${spool}`,
    )
    expect(message).toBe(
      `Writing ${URI} failed: the server answered PUT with 500. The items are in ${spool}.`,
    )
  })

  test('an error of the spool names its path and a way out', async () => {
    const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
    const { message } = await unwritable(URI, spool, full)
    expect(message).toContain(`${URI} (${spool}) cannot be written: the disk is full. Make room`)
  })
})
