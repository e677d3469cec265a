/**
 * What a question for a name costs by itself: the names of the broad benchmark, asked for by `Resolver` of `node:dns` as a worker does and
 * used for nothing. With it the time that the machine has for a page tells how near a crawl by name can come to one by address.
 *
 *     node_modules/.bin/node --conditions=webloom-source benchmarks/names-bench.ts [--names 20000] [--at-once 64] [--rounds 3]
 *
 * Processor time of whole processes, what the system does for them included. The name server is a process of its own.
 */

import { fork } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { hasSilentName } from './broad/hosts.ts'
import { startNameServer } from './broad/names.ts'

const { values } = parseArgs({
  options: {
    names: { type: 'string', default: '20000' },
    'at-once': { type: 'string', default: '64' },
    rounds: { type: 'string', default: '3' },
    server: { type: 'boolean', default: false },
  },
})
const [NAMES, AT_ONCE, ROUNDS] = [values.names, values['at-once'], values.rounds].map(Number) as [
  number,
  number,
  number,
]

if (values.server) {
  const { address } = await startNameServer()
  process.on('message', () => process.send!(microseconds()))
  process.send!(address)
} else await ask()

async function ask(): Promise<void> {
  const server = fork(import.meta.filename, ['--server'])
  const told = async () => (await once(server, 'message'))[0]
  const resolver = new Resolver()
  resolver.setServers([(await told()) as string])
  const ofServer = async () => {
    server.send('how much?')
    return (await told()) as number
  }
  const names = Array.from({ length: NAMES }, (_, host) => host).filter((host) => !hasSilentName(host))
  for (let round = 0; round <= ROUNDS; round++) {
    const [client, served, began] = [microseconds(), await ofServer(), performance.now()]
    const left = names.map((host) => `h${host}.broad.test`)
    const asking = Array.from({ length: AT_ONCE }, async () => {
      for (let name = left.pop(); name !== undefined; name = left.pop())
        await resolver.resolve4(name, { ttl: true })
    })
    await Promise.all(asking)
    const seconds = (performance.now() - began) / 1000
    const [asked, answered] = [microseconds() - client, (await ofServer()) - served]
    // The first round is mostly what V8 compiles.
    if (round > 0)
      console.log(
        `round ${round}: ${(asked / names.length).toFixed(1)} µs for a question, ${(answered / names.length).toFixed(1)} µs of the server for its answer, ${Math.round(names.length / seconds)} names/s`,
      )
  }
  server.kill()
}

function microseconds(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
