import { type StartedProcess, startProcess } from '@webloom/testkit'

const WORKER = new URL('./asking-worker.ts', import.meta.url).pathname

/** What two processes ask about at once. */
export interface Asked {
  readonly key: string
  /** A key of FILTERS in asking-worker.ts. */
  readonly kind: string
  readonly pages: number
}

/** They are there as long as the tests, each of which has a limit of its own. */
const MS_MAX = 3_600_000

/** Two processes that ask one filter after the other. */
export class AskingProcesses implements AsyncDisposable {
  readonly #workers: readonly StartedProcess[]

  constructor(url: string) {
    this.#workers = ['a', 'b'].map((asker) =>
      startProcess(process.execPath, ['--conditions=webloom-source', WORKER, url, asker], {
        timeoutMs: MS_MAX,
      }),
    )
  }

  /** Of each process, the numbers of the pages that it was told are new. */
  async told(asked: Asked): Promise<number[][]> {
    for (const worker of this.#workers) {
      worker.forget()
      worker.write(`${JSON.stringify(asked)}\n`)
    }
    const told: number[][] = []
    for (const worker of this.#workers) {
      const [, numbers] = await worker.waitForOutput(/^(\[.*\])\n/m)
      told.push(JSON.parse(numbers!))
    }
    return told
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.#workers) await worker[Symbol.asyncDispose]()
  }
}
