import { expect, test } from 'vitest'
import { idnaEncode } from './idna.ts'

test.each([
  ['bücher.de', 'xn--bcher-kva.de', 'Punycode'],
  ['BÜCHER.de', 'xn--bcher-kva.de', 'capitals are folded'],
  ['faß.de', 'fass.de', 'ß is ss in IDNA2003; UTS 46 would keep it'],
  ['βόλος.gr', 'xn--nxasmq6b.gr', 'the final sigma is folded; UTS 46 would keep it'],
  ['İ.tr', 'xn--i-9bb.tr', 'a capital with its own dot'],
  ['a\u200db.com', 'ab.com', 'joiners vanish'],
  ['例え。jp', 'xn--r8jz45g.jp', 'an ideographic full stop separates labels'],
  ['Ⅷ.com', 'viii.com', 'compatibility characters are written out'],
  ['a.b.', 'a.b.', 'the root may be named'],
  ['', '', 'no host stays no host'],
])('%s becomes %s: %s', (host, ascii) => {
  expect(idnaEncode(host)).toBe(ascii)
})

test.each([
  ['a..b', 'an empty label'],
  [`${'a'.repeat(64)}.com`, 'a label of 64 letters'],
  [`${'ü'.repeat(64)}.com`, 'a label that Punycode makes too long'],
  ['xn--ü.de', 'Punycode of what looks like Punycode'],
  ['אb.com', 'right-to-left and left-to-right letters in one label'],
  ['א1.com', 'a right-to-left label that ends in a digit'],
  ['\ue000.com', 'a private character'],
  ['\u2028x.com', 'a line separator'],
])('%s is refused: %s', (host) => {
  expect(idnaEncode(host)).toBeUndefined()
})

test.each([
  ['ليهمابتكلموشعربي؟', 'xn--egbpdaj6bu4bxfgehfvwxn'],
  ['他们为什么不说中文', 'xn--ihqwcrb4cv8a8dqg056pqjye'],
  ['3年b組金八先生', 'xn--3b-ww4c5e180e575a65lsy2b'],
])('the sample of RFC 3492 §7.1 %s', (label, ascii) => {
  expect(idnaEncode(label)).toBe(ascii)
})
