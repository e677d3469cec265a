// Serves the site to look at in a browser:  node examples/quotes/site/serve.ts [port]
import { startSite } from './site.ts'

const port = Number(process.argv[2] ?? 8000)
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error(`The port is ${process.argv[2]}; expected a number from 0 (any that is free) to 65535.`)
  process.exit(2)
}
try {
  const site = await startSite({ port })
  console.log(`The quotes are at ${site.url}  (Ctrl-C ends)`)
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
  console.error(`Port ${port} is in use. Give another one: serve.ts ${port + 1}`)
  process.exit(1)
}
