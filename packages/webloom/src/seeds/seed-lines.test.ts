import { expect, test } from 'vitest'
import { type SeedLine, seedLines } from './seed-lines.ts'

async function linesOf(...chunks: (string | Buffer)[]): Promise<SeedLine[]> {
  async function* stream() {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }
  const lines: SeedLine[] = []
  for await (const some of seedLines(stream())) lines.push(...some)
  return lines
}

test('lines keep their numbers, whatever ends them and however they are cut into chunks', async () => {
  const text = '\ufeffhttp://a.test/\r\n\n  \nhttp://b.test/ü\n{"url":"http://c.test/"}'
  const expected = [
    { number: 1, text: 'http://a.test/' },
    { number: 4, text: 'http://b.test/ü' },
    { number: 5, text: '{"url":"http://c.test/"}' },
  ]
  expect(await linesOf(text)).toEqual(expected)
  const bytes = Buffer.from(text)
  expect(await linesOf(...Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(expected)
})

test('a line that is not UTF-8 is bad alone', async () => {
  expect(await linesOf(Buffer.from([0xff, 0x0a]), 'http://a.test/')).toEqual([
    { number: 1, text: '', problem: 'it is not UTF-8' },
    { number: 2, text: 'http://a.test/' },
  ])
})

test('of a line without end only its length is kept', async () => {
  const part = Buffer.alloc(700_000, 'x')
  const [long, after] = await linesOf(part, part, part, '\nhttp://a.test/\n')
  expect(long).toEqual({ number: 1, text: '', problem: 'it is 2100000 bytes long; 1048576 is the most' })
  expect(after).toEqual({ number: 2, text: 'http://a.test/' })
})

test('nothing at all has no lines', async () => {
  expect(await linesOf()).toEqual([])
})
