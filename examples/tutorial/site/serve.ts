// Serves the site to be crawled or looked at:  node examples/tutorial/site/serve.ts [port]
import { startSite } from './site.ts'

const site = await startSite({ port: Number(process.argv[2] ?? 8000) })
console.log(`The quotes are at ${site.url}  (Ctrl-C ends)`)
