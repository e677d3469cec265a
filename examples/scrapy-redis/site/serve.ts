// Serves the directory to be crawled or looked at:  node examples/scrapy-redis/site/serve.ts [port]
import { startSite } from './site.ts'

const site = await startSite({ port: Number(process.argv[2] ?? 8000) })
console.log(`The directory is at ${site.url}  (Ctrl-C ends)`)
