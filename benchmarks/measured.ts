/** What a system under measurement is told, and what it tells; both travel as one line of JSON. */

export interface Task {
  readonly seeds: readonly string[]
  readonly concurrency: number
  /** True: the title of each page is selected, too. */
  readonly select: boolean
}

export interface Measured {
  readonly pages: number
  readonly seconds: number
}

/** With what the process itself used. */
export interface Report extends Measured {
  readonly cpuSeconds: number
  readonly rssMb: number
}

/** Runs the system on the task of the command line and prints its report. */
export async function report(system: (task: Task) => Promise<Measured>): Promise<void> {
  const task = JSON.parse(process.argv[2] ?? '{}') as Task
  const measured = await system(task)
  const { user, system: kernel } = process.cpuUsage()
  const rssMb = process.resourceUsage().maxRSS / 1024
  console.log(JSON.stringify({ ...measured, cpuSeconds: (user + kernel) / 1e6, rssMb } satisfies Report))
}
