/** All cases, and all pages, of moved-visits.test.ts. */

import './moved-visits.test.ts'
