import { expect, test } from 'vitest'
import { encodeCommand, parseReply, RespSplitter } from './redis-resp.ts'

const values = [
  ['SET', 'a', 'å\r\n*1\r\n$-1'],
  'OK',
  new Error('ERR no'),
  12,
  null,
  null,
  [],
  '',
  [[1, 'a\r\n'], [], new Error('inside')],
  ['SET', 'long', 'x'.repeat(300)],
]
const stream = Buffer.concat([
  encodeCommand(['SET', 'a', 'å\r\n*1\r\n$-1']),
  Buffer.from('+OK\r\n-ERR no\r\n:12\r\n$-1\r\n*-1\r\n*0\r\n$0\r\n\r\n'),
  Buffer.from('*3\r\n*2\r\n:1\r\n$3\r\na\r\n\r\n*0\r\n-inside\r\n'),
  encodeCommand(['SET', 'long', Buffer.alloc(300, 'x')]),
])

test('values are told apart wherever the stream is cut', () => {
  for (let size = 1; size <= stream.length; size++) {
    const splitter = new RespSplitter()
    const read: unknown[] = []
    for (let at = 0; at < stream.length; at += size) {
      for (const whole of splitter.split(stream.subarray(at, at + size))) read.push(parseReply(whole))
    }
    expect(read, `in chunks of ${size} bytes`).toEqual(values)
  }
})

test('the types of RESP3 are told apart as well', () => {
  const each = [
    '%2\r\n+a\r\n:1\r\n$1\r\nb\r\n~2\r\n#t\r\n_\r\n',
    '>2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n',
    '|1\r\n+ttl\r\n:3600\r\n,1.5\r\n',
    '(3492890328409238509324850943850943825024385\r\n',
    '!5\r\nERR x\r\n',
    '=7\r\ntxt:abc\r\n',
  ]
  const whole = new RespSplitter().split(Buffer.from(each.join('')))
  expect(whole.map(String)).toEqual(each)
})

test('what is not RESP is refused', () => {
  expect(() => new RespSplitter().split(Buffer.from('GET / HTTP/1.1\r\n'))).toThrow(/one of \+ - : .*GET/)
})
