import { spawnSync } from 'node:child_process'

/** Lines of tracked text files that a merge has left for somebody to choose from. */
export function mergeMarkerProblems(root: string): string[] {
  const { status, stdout, stderr } = spawnSync('git', ['grep', '-nIE', '^(<<<<<<<|>>>>>>>) '], {
    cwd: root,
    encoding: 'utf8',
  })
  // 1: nothing found.
  if (status !== 0 && status !== 1) return [`git grep in ${root} failed: ${stderr}`]
  return stdout.split('\n').flatMap((line) => {
    const [, place] = /^(.+?:\d+):/.exec(line) ?? []
    return place === undefined ? [] : [`${place} has a merge marker: choose between both sides`]
  })
}
