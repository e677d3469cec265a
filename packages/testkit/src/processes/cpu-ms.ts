/**
 * CPU time that this thread has used so far, in milliseconds. The difference of two tells whether some code takes linear
 * time, on a machine that is busy with other things, too.
 */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
