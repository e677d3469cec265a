import { Settings } from '@webloom/core'
import { expect, test } from 'vitest'
import { commandLine } from '../cli.ts'
import { commandName, resumeLine, typedHints, typedLine } from './resume-line.ts'

const named = (npm_lifecycle_script?: string) => commandName({ npm_lifecycle_script })

test.each([
  ['npx', 'webloom runspider spider.ts'],
  ['npx with quotes', '"webloom" "shell"'],
  ['npm start', 'webloom runspider spider.ts -O items.jsonl'],
  ['a script that builds first', 'tsc && webloom crawl quotes'],
  ['a script with a variable', 'REDIS_URL=redis://127.0.0.1 webloom worker quotes'],
])('started by %s, a shell would not find webloom, and npx does', (_by, script) => {
  expect(named(script)).toBe('npx webloom')
})

test.each([
  ['a shell', undefined],
  ['a program of their own', 'node main.ts'],
  ['another command with that word', 'vitest run webloom'],
  ['a name that only begins so', 'webloomer x'],
])('started by %s, it has its own name', (_by, script) => {
  expect(named(script)).toBe('webloom')
})

test('a line is typed with that name, behind the variables that it begins with; other words stay', () => {
  expect(typedLine('webloom list', 'npx webloom')).toBe('npx webloom list')
  expect(typedLine('A=1 B=2 webloom seed webloom', 'npx webloom')).toBe('A=1 B=2 npx webloom seed webloom')
  expect(typedLine("echo 'webloom'", 'npx webloom')).toBe("echo 'webloom'")
})

test('in a message every command has that name, and nothing else', () => {
  for (const command of commandLine(() => {})
    .commands.map((one) => one.name())
    .filter((one) => one !== '__complete'))
    expect(typedHints(`Begin:  webloom ${command} x`, 'npx webloom')).toBe(`Begin:  npx webloom ${command} x`)
  const others = 'webloom finds no @webloom/core crawl in /opt/webloom list; npx webloom list lists webloom'
  expect(typedHints(others, 'npx webloom')).toBe(others)
  expect(typedHints('`webloom seed` and (webloom status)', 'npx webloom')).toBe(
    '`npx webloom seed` and (npx webloom status)',
  )
  expect(typedHints('webloom list', 'webloom')).toBe('webloom list')
})

test.each([
  ["-s 'REDIS_URL=redis://***@127.0.0.1:1'", ['-s', 'REDIS_URL=redis://u1:geheim%251@127.0.0.1:1']],
  ["'-sREDIS_URL=redis://***@127.0.0.1:1'", ['-sREDIS_URL=redis://u1:geheim/1@127.0.0.1:1']],
  ["'--set=REDIS_URL=redis://***@127.0.0.1:1'", ['--set=REDIS_URL=redis://u1:geheim@127.0.0.1:1']],
  ["-s 'REDIS_PARAMS=(not shown)'", ['-s', 'REDIS_PARAMS={"password":"geheim"}']],
  ["-a 'token=***'", ['-a', 'token=geheim']],
  ["-o 'https://***@x.test/items'", ['-o', 'https://u1:geheim@x.test/items']],
  ["-s QUEUE_SHARDS=6 -a 'q=a b'", ['-s', 'QUEUE_SHARDS=6', '-a', 'q=a b']],
])('the line to go on has no password: %s', (shown, words) => {
  expect(resumeLine(new Settings({}), ['worker', 'tree.ts', ...words], {})).toBe(
    `webloom worker tree.ts ${shown}`,
  )
})

test('the line to go on begins no new crawl', () => {
  const line = resumeLine(new Settings({}), ['worker', 'tree.ts', '--new', '-s', 'REDIS_URL=redis://x'], {})
  expect(line).toBe('webloom worker tree.ts -s REDIS_URL=redis://x')
})
