/**
 * A network namespace in which servers of loopback can be cut off from one another. Who sends is known by its group: each redis-server
 * has its port for one, and a worker on the side of the server that is cut off has `SIDE`.
 */

import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { type TempDir, tempDir } from '@webloom/testkit'

/** This process runs in one of its own. */
export const isInside = process.env.IN_NAMESPACE === '1'

/** The group of processes on the side of what is cut off; also the mark of their connections. */
export const SIDE = 7200

function iptables(...args: (string | number)[]): void {
  if (!isInside) throw new Error('only in a network namespace: these would be the rules of the machine')
  execFileSync('iptables', ['-w', ...args.map(String)])
}

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

/**
 * Cuts one server off from all but the side's processes, and these from all other servers.
 *
 * @param own ports of the server: its clients', and its bus
 * @param others ports of all other servers, Sentinels among them
 */
export function cutOff(
  server: { readonly port: number },
  own: readonly number[],
  others: readonly number[],
): void {
  const drop = (...rule: (string | number)[]) => iptables('-A', 'OUTPUT', '-p', 'tcp', ...rule, '-j', 'DROP')
  const ofSide = ['-m', 'connmark', '--mark', SIDE] as const
  const notOfSide = ['-m', 'connmark', '!', '--mark', SIDE] as const
  drop('-m', 'owner', '--gid-owner', server.port, ...notOfSide)
  for (const port of own) {
    drop('--dport', port, ...notOfSide)
    drop('--sport', port, ...notOfSide)
  }
  for (const port of others) {
    drop('--dport', port, ...ofSide)
    drop('--sport', port, ...ofSide)
  }
}

/** All reach all again. */
export function heal(): void {
  iptables('-F', 'OUTPUT')
}
