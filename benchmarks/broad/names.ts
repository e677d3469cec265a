/** The name server of the broad web's hosts. */

import { type DnsServer, startDnsServer } from '@webloom/testkit'
import { hasSilentName, hostAddress, hostOf } from './hosts.ts'

/** As long as a name server takes that has to ask another one, milliseconds. */
const ANSWER_MS = 20

export function startNameServer(): Promise<DnsServer> {
  return startDnsServer({
    delayMs: ANSWER_MS,
    answer: (name) => {
      const host = hostOf(name)
      if (host < 0) return undefined
      return hasSilentName(host) ? 'silent' : { addresses: [hostAddress(host)] }
    },
  })
}
