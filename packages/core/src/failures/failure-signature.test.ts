import { expect, test } from 'vitest'
import { failureSignature } from './failure-signature.ts'

const timeout = (url: string, seconds: number) =>
  failureSignature('DownloadTimeoutError', `${url} took longer than ${seconds} s (DOWNLOAD_TIMEOUT)`)

test('kind, beginning of the message, and a hash', () => {
  const signature = failureSignature(
    'TypeError',
    "Cannot read properties of undefined (reading 'text')",
    'parse',
  )
  expect(signature).toMatch(/^TypeError:cannot-read-properties-of-unde:[\da-f]{8}$/)
  expect(failureSignature('Error', '')).toMatch(/^Error:[\da-f]{8}$/)
})

test('pages that failed for the same cause have the same one, whatever their address', () => {
  const one = timeout('https://a.example/1?x=2', 180)
  expect(timeout('http://[2001:db8::1]:8080/deep/way', 3)).toBe(one)
  const refused = (where: string) =>
    failureSignature('DownloadConnectionRefusedError', `connect ECONNREFUSED ${where}`)
  expect(refused('127.0.0.1:4312')).toBe(refused('10.0.0.7:80'))
  expect(refused('[::1]:80')).toBe(refused('10.0.0.7:80'))
  const name = (host: string) => failureSignature('CannotResolveHostError', `${host} cannot be resolved`)
  expect(name('a.example')).toBe(name('www.b-c.co.uk'))
})

test('other kinds, messages and callbacks have others', () => {
  const all = [
    failureSignature('TypeError', 'a.b is not a function', 'parse'),
    failureSignature('TypeError', 'c.d is not a function', 'parse'),
    failureSignature('TypeError', 'a.b is not a function', 'parseItem'),
    failureSignature('RangeError', 'a.b is not a function', 'parse'),
  ]
  expect(new Set(all).size).toBe(4)
})

test('a name with strange characters, and a message of megabytes', () => {
  const signature = failureSignature('My Error\n\u001b[31m', 'x'.repeat(10_000_000))
  expect(signature).toMatch(/^[\w.$:-]+$/)
  expect(signature.length).toBeLessThan(110)
})
