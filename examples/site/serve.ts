// Serves the bookshop to be crawled or looked at:  node examples/site/serve.ts [port] [address]
import { startSite } from './site.ts'

const [port = '8000', address = '127.0.0.1'] = process.argv.slice(2)
if (!/^\d+$/.test(port) || Number(port) > 65_535) {
  console.error(`The port is ${port}; expected a number from 0 (any that is free) to 65535.`)
  process.exit(2)
}
try {
  const site = await startSite({ port: Number(port), address })
  console.log(`The bookshop is at ${site.url}  (Ctrl-C ends)`)
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
  console.error(`Port ${port} is in use. Give another one: serve.ts ${Number(port) + 1}`)
  process.exit(1)
}
