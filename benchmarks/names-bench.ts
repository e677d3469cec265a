/**
 * What a question for a name costs: the names of the broad benchmark, asked for as a worker asks for them, with nothing done with the
 * answers. A page by name costs at least so much more than one by address; what waits for an answer costs more still.
 *
 *     node_modules/.bin/node --conditions=webloom-source benchmarks/names-bench.ts [--names 20000] [--at-once 128] [--rounds 3]
 *
 * Processor time of two whole processes, what the system does for them included: the one that asks, and the name server's.
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { nameServersAt } from '../packages/downloader/src/names/name-servers.ts'
import { hasSilentName, hostName } from './broad/hosts.ts'
import { startNameServer } from './broad/names.ts'

const { values } = parseArgs({
  options: {
    names: { type: 'string', default: '20000' },
    'at-once': { type: 'string', default: '128' },
    rounds: { type: 'string', default: '3' },
    server: { type: 'boolean', default: false },
  },
})

if (values.server) await serve()
else await ask(Number(values.names), Number(values['at-once']), Number(values.rounds))

async function serve(): Promise<void> {
  const { address } = await startNameServer()
  process.once('disconnect', () => process.exit())
  process.on('message', () => process.send!(usedUs()))
  process.send!(address)
}

async function ask(count: number, atOnce: number, rounds: number): Promise<void> {
  const server = fork(import.meta.filename, ['--server'])
  const told = async () => (await once(server, 'message'))[0]
  const servers = nameServersAt([(await told()) as string])
  const usedByServer = async () => {
    server.send('how much?')
    return (await told()) as number
  }
  const hosts = Array.from({ length: count }, (_, host) => host).filter((host) => !hasSilentName(host))
  // The first round is mostly what V8 compiles.
  for (let round = 0; round <= rounds; round++) {
    const [before, servedBefore] = [usedUs(), await usedByServer()]
    const left = hosts.map(hostName)
    const asking = Array.from({ length: atOnce }, async () => {
      for (let name = left.pop(); name !== undefined; name = left.pop()) await servers.lookup(name)
    })
    await Promise.all(asking)
    const [asked, served] = [usedUs() - before, (await usedByServer()) - servedBefore]
    const each = (us: number) => (us / hosts.length).toFixed(1)
    if (round > 0)
      console.log(`round ${round}: ${each(asked)} µs a question, ${each(served)} µs of the server an answer`)
  }
  server.disconnect()
}

function usedUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
