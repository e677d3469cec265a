/**
 * ioredis writes INFO also to a connection that is still being set up. If that connection is lost before it is ready, ioredis
 * forgets the command, which then never ends. A worker that asked just then which run the queue's Redis has would wait for ever.
 */

import type { Redis } from 'ioredis'

/**
 * Makes an INFO of a section wait from now on until the connection is ready or lost; a lost one is made anew, and ioredis keeps the command
 * for it. An INFO without a section is let pass: ioredis itself asks so whether the connection is ready.
 *
 * @param onOwn hears what that says
 */
export function infoWhenReady(client: Redis, onOwn: (info: string) => void = () => {}): void {
  const send = client.sendCommand.bind(client)
  client.sendCommand = (...sent) => {
    const [{ name, args, promise }, stream] = sent
    const mayPass =
      client.status !== 'connect' || stream !== undefined || name !== 'info' || args.length === 0
    if (client.status === 'connect' && name === 'info' && args.length === 0)
      promise.then(
        (info) => onOwn(String(info)),
        () => {},
      )
    if (mayPass) return send(...sent)
    const go = () => {
      client.off('ready', go).off('close', go)
      send(...sent)
    }
    client.on('ready', go).on('close', go)
    return promise
  }
}
