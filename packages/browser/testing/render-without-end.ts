/** A process that renders a page without end, for a test that kills it: `node render-without-end.ts <url>`. */

import { Browsing } from './browsing.ts'

const browsing = await Browsing.open()
const visits = [browsing.visit(process.argv[2]!), browsing.visit(process.argv[2]!)]
await Promise.allSettled(visits)
