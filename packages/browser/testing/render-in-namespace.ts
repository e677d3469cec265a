/**
 * Renders a page that tries every way to the metadata address, where that is an address of this very machine; prints who came, as JSON.
 * For a network namespace of its own, in which `ip` gives it the address: `node render-in-namespace.ts`.
 */

import { Browsing, Site } from './browsing.ts'
import { Inside, serveWays } from './ways-inside.ts'

const METADATA = '169.254.169.254'
const PUBLIC = '127.0.9.1'

const inside = await Inside.start([METADATA, PUBLIC])
const site = await Site.start()
const targets = { metadata: `${METADATA}:${inside.port}`, public: `${PUBLIC}:${inside.port}` }
const url = serveWays(site, targets)
const allowed = [`${PUBLIC}/32`, `outside.localhost:${site.port}`]
// The address answers whoever is let there.
const answers = (await fetch(`http://${METADATA}:${inside.port}/hit/direct/metadata`)).status === 200
inside.hits.clear()
inside.contacts.clear()
const browsing = await Browsing.open({ settings: { PRIVATE_ADDRESSES_ALLOWED: allowed } })
await browsing.visit(url, { meta: { browser: { waitFor: 500 }, download_timeout: 30 } })
console.log(JSON.stringify({ answers, hits: [...inside.hits], contacts: inside.contactsAt(METADATA) }))
await browsing[Symbol.asyncDispose]()
await site[Symbol.asyncDispose]()
await inside[Symbol.asyncDispose]()
