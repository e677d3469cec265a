import { readdir, readFile } from 'node:fs/promises'

/**
 * Resolves to the memory of a process and its descendants, MiB: their shares of it (PSS), as Chromium's processes share most of
 * their code. Undefined where the system does not tell (all but Linux).
 */
export async function treeMemoryMb(pid: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  const sizes = await Promise.all((await processTree(pid)).map(pssKb))
  return sizes.reduce((sum, size) => sum + size, 0) / 1024
}

/** Resolves to a process and its descendants, where the system tells them (Linux). */
export async function processTree(pid: number): Promise<number[]> {
  return [pid, ...descendants(pid, await parents())]
}

async function parents(): Promise<Map<number, number[]>> {
  const children = new Map<number, number[]>()
  // A container may have no /proc.
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name))
  await Promise.all(
    pids.map(async (pid) => {
      const parent = await parentOf(pid)
      if (parent === undefined) return
      const known = children.get(parent)
      if (known) known.push(Number(pid))
      else children.set(parent, [Number(pid)])
    }),
  )
  return children
}

async function parentOf(pid: string): Promise<number | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    // The name of the program stands before, and may have spaces and brackets in it.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined // it has ended
  }
}

function descendants(pid: number, children: ReadonlyMap<number, readonly number[]>): number[] {
  return (children.get(pid) ?? []).flatMap((child) => [child, ...descendants(child, children)])
}

async function pssKb(pid: number): Promise<number> {
  try {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1')
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0)
  } catch {
    return 0
  }
}
