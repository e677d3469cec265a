/** What makes each redis-server of this process one that `cutOff` knows. It changes the process for good: not for files that share one. */

import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { type TempDir, tempDir } from '@webloom/testkit'
import { iptables, SIDE } from './namespace.ts'

/**
 * From now on each redis-server that is started has its port as its group, and connections of that side are marked. Returns what
 * is to be removed at the end.
 */
export async function prepareNamespace(): Promise<TempDir> {
  const program = execFileSync('sh', ['-c', 'command -v redis-server'], { encoding: 'utf8' }).trim()
  const folder = await tempDir('webloom-groups-')
  const own = folder.join('redis-server')
  writeFileSync(
    own,
    `#!/bin/sh
if [ "$1" = --port ]; then exec setpriv --regid "$2" --clear-groups ${program} "$@"; fi
exec ${program} "$@"
`,
  )
  chmodSync(own, 0o755)
  process.env.PATH = `${folder.path}${delimiter}${process.env.PATH}`
  const marks = `-t mangle -A OUTPUT -p tcp -m owner --gid-owner ${SIDE} -j CONNMARK --set-mark ${SIDE}`
  iptables(...marks.split(' '))
  return folder
}
