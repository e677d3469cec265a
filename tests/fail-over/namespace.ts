/**
 * A network namespace in which servers of loopback can be cut off from one another. Who sends is known by its group: each redis-server
 * has its port for one (prepare-namespace.ts), and a worker on the side of the server that is cut off has `SIDE`.
 */

import { execFileSync } from 'node:child_process'

/** This process runs in one of its own. */
export const isInside = process.env.IN_NAMESPACE === '1'

/** The group of processes on the side of what is cut off; also the mark of their connections. */
export const SIDE = 7200

export function iptables(...args: (string | number)[]): void {
  if (!isInside) throw new Error('only in a network namespace: these would be the rules of the machine')
  execFileSync('iptables', ['-w', ...args.map(String)])
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
