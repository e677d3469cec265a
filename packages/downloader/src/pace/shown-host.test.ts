import { expect, test } from 'vitest'
import { shownHostOf } from './shown-host.ts'

test('a host is shown with its port, and without what stands before it', () => {
  expect(shownHostOf('http://me:secret@x:81/page')).toBe('x:81')
  expect(shownHostOf('https://shop.example/@home')).toBe('shop.example')
})
