/** More tags. */

import './packed-tag.test.ts'
