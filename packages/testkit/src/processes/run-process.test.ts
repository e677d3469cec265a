import { expect, test } from 'vitest'
import { type ProcessOptions, runProcess, startProcess } from '../index.ts'

const run = (script: string, options?: ProcessOptions) =>
  runProcess(process.execPath, ['-e', script], options)
const start = (script: string) => startProcess(process.execPath, ['-e', script])

test('a process is run to its end: code, output and errors', async () => {
  const result = await run('console.log("out"); console.error("err"); process.exitCode = 3')
  expect(result).toEqual({ code: 3, signal: null, stdout: 'out\n', stderr: 'err\n' })
})

test('input and environment reach it', async () => {
  const script = 'process.stdin.on("data", (text) => console.log(process.env.MINE + text))'
  expect((await run(script, { input: 'put', env: { MINE: 'in' } })).stdout).toBe('input\n')
})

test('one that does not end in time is killed, and the error shows what it wrote', async () => {
  const endless = run('console.log("begun"); setInterval(() => {}, 1000)', { timeoutMs: 1_000 })
  await expect(endless).rejects.toThrow(/did not end within 1000 ms[\s\S]*begun/)
})

test('the first line of an error tells what was waited for, how long, and what was written last', async () => {
  await using child = start('console.log("begun"); console.error("at 3"); setInterval(() => {}, 1000)')
  await child.waitForOutput(/at 3/)
  const [line] = String(await child.waitForOutput(/at 4/, 50).catch((error: unknown) => error)).split('\n')
  expect(line).toMatch(
    /^Error: a process has not written \/at 4\/, waited for \d+ ms; it wrote last: at 3; it is \S*node/,
  )
})

test('a command that does not exist rejects', async () => {
  await expect(runProcess('no-such-command-here', [])).rejects.toThrow('ENOENT')
})

test('output is waited for, a signal is sent, and the end tells of it', async () => {
  await using child = start('console.log("listening on 81"); setInterval(() => {}, 1000)')
  const [, port] = await child.waitForOutput(/listening on (\d+)/)
  expect(port).toBe('81')
  expect(child.kill('SIGTERM')).toBe(true)
  expect(await child.exited).toMatchObject({ code: null, signal: 'SIGTERM' })
})

test('what it has written is forgotten when asked, and what comes then is all there is', async () => {
  await using echo = start('process.stdin.on("data", (text) => console.log("<" + text + ">"))')
  echo.write('one')
  await echo.waitForOutput(/>\n/)
  echo.forget()
  expect(echo.stdout).toBe('')
  echo.write('two')
  await echo.waitForOutput(/>\n/)
  expect(echo.stdout).toBe('<two>\n')
})

test('waiting for output ends with the process, or with its time', async () => {
  await using quick = start('console.log("bye")')
  await expect(quick.waitForOutput(/hello/)).rejects.toThrow(/ended without writing [\s\S]*bye/)
  await using silent = start('setInterval(() => {}, 1000)')
  await expect(silent.waitForOutput(/hello/, 50)).rejects.toThrow(
    /^a process has not written \/hello\/, waited for \d+ ms; it has written nothing; it is .*setInterval/,
  )
})
