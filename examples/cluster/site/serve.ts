// Serves the mills:  node site/serve.ts [host…]
// Without hosts they are 127.0.0.1 to 127.0.0.6, on this machine alone; with hosts, whoever reaches this machine is answered.
import { type Site, startSite } from './site.ts'
import { MILLS } from './yarns.ts'

const PORT = 8000
const named = process.argv.slice(2)

const site = await startSite(
  named.length > 0
    ? { hosts: named, addresses: ['0.0.0.0'], port: PORT }
    : { hosts: MILLS.map((_, mill) => `127.0.0.${mill + 1}`), port: PORT },
)
console.log(
  `${site.urls.length} pages of ${site.origins.length} mills are served:\n${site.origins.join('\n')}`,
)
const telling = tellOfFetches(site)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    clearInterval(telling)
    site.close()
  })
}

/** Now and then, while somebody comes. */
function tellOfFetches({ fetches }: Site): NodeJS.Timeout {
  let told = 0
  return setInterval(() => {
    const sum = [...fetches.values()].reduce((total, count) => total + count, 0)
    if (sum === told) return
    told = sum
    console.log(`${sum} requests for ${fetches.size} pages so far`)
  }, 5000)
}
