/** A web of many hosts on this machine, served by one process that knows when each of them was asked for what. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Visits, VisitsQuestion, WebPlan } from './web-child.ts'

export interface BroadWeb {
  readonly port: number
  /** Of the server, to pin it. */
  readonly pid: number
  visits(question?: VisitsQuestion): Promise<Visits>
  [Symbol.asyncDispose](): Promise<void>
}

export interface ServingOptions {
  /** The site goes before all others on this machine's cores, where the system allows it. */
  readonly goesFirst: boolean
}

export async function serveBroadWeb(plan: WebPlan, { goesFirst }: ServingOptions): Promise<BroadWeb> {
  const child = fork(join(import.meta.dirname, 'web-child.ts'))
  if (goesFirst) goFirst(child.pid!)
  const exited = once(child, 'exit')
  const ask = async (message: WebPlan | VisitsQuestion): Promise<unknown> => {
    const answered = once(child, 'message')
    child.send(message)
    const gone = exited.then(([code]) => Promise.reject(new Error(`the site's process ended with ${code}`)))
    return (await Promise.race([answered, gone]))[0]
  }
  const port = (await ask(plan)) as number
  return {
    port,
    pid: child.pid!,
    visits: (question = {}) => ask(question) as Promise<Visits>,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

function goFirst(pid: number): void {
  try {
    setPriority(pid, -10)
  } catch {
    console.error('the site does not go first, as only root may say so: gaps may look too short')
  }
}
