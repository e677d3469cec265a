import { startSite } from './site.ts'

const { url } = await startSite(8010)
console.log(`A shop that needs JavaScript is served at ${url}  (Ctrl-C ends it)`)
