/** All seeds of memory-host-clock-bounds.test.ts. */

import './memory-host-clock-bounds.test.ts'
