import { type StartedProcess, startProcess } from '@webloom/testkit'

/** Two processes ask at once about the same pages; returns how often each page was told to be new. */
export async function toldByTwoProcesses(asked: {
  readonly url: string
  readonly key: string
  /** A key of FILTERS in asking-worker.ts. */
  readonly kind: string
  readonly pages: number
}): Promise<Uint8Array> {
  const start = (asker: string): StartedProcess =>
    startProcess(process.execPath, [
      '--conditions=webloom-source',
      new URL('./asking-worker.ts', import.meta.url).pathname,
      JSON.stringify({ ...asked, asker }),
    ])
  const workers = [start('a'), start('b')]
  for (const worker of workers) await worker.waitForOutput(/ready/)
  for (const worker of workers) worker.write('go\n')
  const told = new Uint8Array(asked.pages)
  for (const worker of workers) {
    const { stdout } = await worker.exited
    for (const n of JSON.parse(stdout.split('\n')[1]!) as number[]) told[n]!++
  }
  return told
}
