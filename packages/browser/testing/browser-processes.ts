import { execFileSync } from 'node:child_process'

/** The processes of browsers that a process of ours has started: the browser first. */
export function browserPids(ofPid = process.pid): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8', maxBuffer: 2 ** 26 }).split(
    '\n',
  )
  const ours = lines.filter((line) => line.includes(`webloom-browser-${ofPid}-`))
  return ours
    .toSorted((a, b) => Number(/--type=/.test(a)) - Number(/--type=/.test(b)))
    .map((line) => Number.parseInt(line, 10))
}

/** The browser itself, and not the script that has started it. */
export function browserPid(ofPid = process.pid): number {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8', maxBuffer: 2 ** 26 }).split(
    '\n',
  )
  const own = lines.find(
    (line) =>
      line.includes(`webloom-browser-${ofPid}-`) &&
      !/--type=/.test(line) &&
      !/^\s*\d+ \/bin\/(?:ba)?sh /.test(line),
  )
  if (own === undefined) throw new Error(`process ${ofPid} has no browser`)
  return Number.parseInt(own, 10)
}
