import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A loopback port that nobody listens on, for a server that will go and come back on it. It lies below the range from
 * which systems give ports to outgoing connections (Linux begins at 32768): a crawl opens thousands of those, and one
 * of them would sooner or later sit on the port of a server that is down for a moment. No process is given one that
 * another has got by this function and still runs; where there are no abstract sockets, that is left to chance.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN + 1))
    if ((await isFree(port)) && (await reserve(port))) return port
  }
  throw new Error(`no free port: ${ATTEMPTS_MAX} tried between ${PORT_MIN} and ${PORT_MAX}, all in use`)
}

const PORT_MIN = 16_384
const PORT_MAX = 32_767
const ATTEMPTS_MAX = 50

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

/**
 * Until this process ends, by an abstract socket of Linux, which is found by its name in the same network namespace and leaves no file.
 * @returns whether nobody had it
 */
async function reserve(port: number): Promise<boolean> {
  const server = createServer().unref()
  try {
    await once(server.listen(`\0webloom-port-${port}`), 'listening')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EADDRINUSE'
  }
  return true
}
