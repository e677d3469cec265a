import { expect, test } from 'vitest'
import { flagsGone, startedWith, withSecretFlags } from './flag-words.ts'

const FLAGS = {
  set: ['MAIL_PASS=hunter2', 'DOWNLOAD_DELAY=2', 'PROXY=http://me:hunter2@proxy:8080', 'DOWNLOAD_DELAY=3'],
  argument: ['tag=love', 'token=hunter2', 'tag=life'],
  output: ['a.jsonl', 'sftp://me:hunter2@host/b.jsonl'],
}

test('a process is given secrets in its environment, and all else in its words, so that no list of processes shows them', () => {
  const { words, env } = startedWith(FLAGS)
  expect(words.join(' ')).toBe('-s DOWNLOAD_DELAY=2 -s DOWNLOAD_DELAY=3 -a tag=love -a tag=life -o a.jsonl')
  const its: Record<string, string | undefined> = { ...env }
  const typed = { set: ['DOWNLOAD_DELAY=2'], output: ['a.jsonl'], stay: true }
  expect(withSecretFlags(typed, its)).toEqual({
    set: ['DOWNLOAD_DELAY=2', 'MAIL_PASS=hunter2', 'PROXY=http://me:hunter2@proxy:8080'],
    argument: ['token=hunter2'],
    output: ['a.jsonl', 'sftp://me:hunter2@host/b.jsonl'],
    stay: true,
  })
  // A browser that it starts is given none of them.
  expect(its).toEqual({})
})

test('of values with one name the last counts, so they are handed over together', () => {
  const set = ['PROXY=http://me:hunter2@proxy:8080', 'PROXY=http://other:8080']
  const { words, env } = startedWith({ set })
  expect(words).toEqual([])
  expect(withSecretFlags({}, { ...env })).toEqual({ set })
})

test('without secrets nothing is added', () => {
  expect(startedWith({ argument: ['tag=love'] })).toEqual({ words: ['-a', 'tag=love'], env: {} })
  expect(withSecretFlags({ set: ['A=1'] }, {})).toEqual({ set: ['A=1'] })
})

test('flags are gone that are not there with another value either', () => {
  const after = { set: ['DOWNLOAD_DELAY=5'], argument: ['tag=love'] }
  expect(flagsGone({ ...FLAGS, set: ['DOWNLOAD_DELAY=2', 'CRAWL_ID=a'] }, after)).toEqual({
    set: ['CRAWL_ID=a'],
    argument: ['token=hunter2'],
    output: FLAGS.output,
  })
})
