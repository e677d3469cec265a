/** Of more pages. */

import './content-hash.test.ts'
