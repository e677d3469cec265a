// Serves the small web to be crawled:  node examples/broad-crawl/web/serve.ts
import { startWeb } from './web.ts'

try {
  const { origins } = await startWeb({ port: 8100 })
  console.log(`${origins.length} hosts, from ${origins[0]}/ to ${origins.at(-1)}/  (Ctrl-C ends)`)
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') console.error(`${message}. Something else uses port 8100: end it first`)
  else if (code === 'EADDRNOTAVAIL')
    console.error(
      `${message}. This machine has 127.0.0.1 alone; on macOS:  sudo ifconfig lo0 alias 127.0.0.2`,
    )
  else throw error
  process.exit(1)
}
