/** Recrawls with all places, changes of fingerprints and sizes, of which `npm test` has the most telling. */

import './recrawl.test.ts'
import './recrawl-callbacks.test.ts'
import './recrawl-fingerprints.test.ts'
import './recrawl-sitemaps.test.ts'
import './recrawl-troubles.test.ts'
