/**
 * The processes of browsers that a process of ours has started.
 *
 * Only a browser's own has the name of our profile folder in its arguments; its renderers are known by the session that each browser has
 * for itself. A session outlives the browser, so what must not be left is looked for by the sessions that were there before.
 */

import { execFileSync } from 'node:child_process'

interface Process {
  readonly pid: number
  readonly session: number
  readonly args: string
}

/** All processes of the browsers, those of their pages too. */
export function browserPids(ofPid = process.pid): number[] {
  return pidsIn(browserSessions(ofPid))
}

/** The browser itself, and not the script that has started it. */
export function browserPid(ofPid = process.pid): number {
  const own = browserPidNow(ofPid)
  if (own === undefined) throw new Error(`process ${ofPid} has no browser`)
  return own
}

/** The same; undefined where there is none. */
export function browserPidNow(ofPid = process.pid): number | undefined {
  return named(ofPid).find(({ args }) => !/^\/bin\/(?:ba)?sh /.test(args))?.pid
}

/** The sessions of the browsers that run. */
export function browserSessions(ofPid = process.pid): number[] {
  return [...new Set(named(ofPid).map(({ session }) => session))]
}

/** What is left of such sessions. */
export function pidsIn(sessions: readonly number[]): number[] {
  return processes()
    .filter(({ session }) => sessions.includes(session))
    .map(({ pid }) => pid)
}

function named(ofPid: number): Process[] {
  return processes().filter(({ args }) => args.includes(`webloom-browser-${ofPid}-`))
}

/** All processes but those that have ended and wait for their parent to ask. */
function processes(): Process[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,sess=,stat=,args='], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, session, state, args] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return args === undefined || state!.startsWith('Z')
      ? []
      : [{ pid: Number(pid), session: Number(session), args }]
  })
}
