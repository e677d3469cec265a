import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { boundMessages } from './message-bound.ts'

/** What becomes of a process that says `line` to the pipe, and then waits. */
async function endOf(line: string, bytesMax: number): Promise<unknown> {
  const child = spawn('sh', ['-c', `{ ${line}; } >&4; sleep 0.2`], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  })
  boundMessages(child, bytesMax)
  const [code, signal] = await once(child, 'exit')
  return signal ?? code
}

test('a browser that says more at once than the bound is killed, and one that says as much in pieces is not', async () => {
  const message = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' x`
  expect(await endOf(message(300_000), 200_000)).toBe('SIGKILL')
  const piece = `${message(100_000)}; printf '\\0'`
  expect(await endOf(`${piece}; ${piece}; ${piece}`, 200_000)).toBe(0)
})
