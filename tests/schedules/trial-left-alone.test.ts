/** A process in which a worker is tried, and whose parent is killed. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { CLI, projectFolder } from '../projects/project-folder.ts'

/** As `webloom worker --all` begins a trial. Standard output is the trial's, so that its end is the end of that. */
const PARENT = `const trial = require('node:child_process').fork(process.argv[1], ['worker', 'shop'], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  detached: true,
  env: { ...process.env, WEBLOOM_TRIAL: String(process.pid) },
})
trial.on('close', (code) => process.exit(code))`

test('a trial in whose spider a loop does not end is gone soon after the process that has begun it was killed', async () => {
  await using folder = await projectFolder({
    'webloom.config.ts': `export default { spiders: 'spiders' }`,
    'spiders/shop.ts': `import { writeSync } from 'node:fs'
writeSync(1, String(process.pid))
for (;;);
`,
  })
  const parent = spawn(process.execPath, ['-e', PARENT, CLI], {
    cwd: folder.path,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const signal = AbortSignal.timeout(20_000)
  const ended = once(parent, 'close', { signal })
  const [pid] = await once(parent.stdout.setEncoding('utf8'), 'data', { signal })
  try {
    parent.kill('SIGKILL')
    expect(await ended).toEqual([null, 'SIGKILL'])
  } finally {
    killIfThere(Number(pid))
  }
})

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone, as it should.
  }
}
