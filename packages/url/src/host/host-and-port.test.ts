import { expect, test } from 'vitest'
import { hostAndPort } from './host-and-port.ts'

test.each([
  ['http://example.com/a', 'example.com:80'],
  ['https://Example.COM./', 'example.com:443'],
  ['http://user:pass@example.com:8080/?x#y', 'example.com:8080'],
  ['http://0x7f.1:80/', '127.0.0.1:80'],
  ['http://[0:0::1]/', '[::1]:80'],
  ['http://bücher.example/', 'xn--bcher-kva.example:80'],
  ['data:text/plain,x', undefined],
  ['http://1.2.3.400/', undefined],
  ['no URL', undefined],
])('%s leads to %s', (url, place) => {
  expect(hostAndPort(url)).toBe(place)
})
