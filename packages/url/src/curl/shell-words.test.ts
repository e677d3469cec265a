import { describe, expect, test } from 'vitest'
import { shellWords } from './shell-words.ts'

describe('a shell’s words', () => {
  test.each([
    [`a  'b c'"d e"f\\ g`, ['a', 'b cd ef g']],
    [`'' ""`, ['', '']],
    [`"a\\"b\\\\c\\n$x" 'a\\b'`, ['a"b\\c\\n$x', 'a\\b']],
    [`$'a\\n\\t\\'\\x41\\303\\251\\u20ac\\\\'b $x $`, ["a\n\t'Aé€\\b", '$x', '$']],
    ['a \\\n b \\\r\n c', ['a', 'b', 'c']],
    ['a\\\nb', ['ab']],
  ])('%s', (command, words) => {
    expect(shellWords(command)).toEqual(words)
  })
})
