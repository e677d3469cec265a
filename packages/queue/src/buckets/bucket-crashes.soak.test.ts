/** All cases of bucket-crashes.test.ts. */

import './bucket-crashes.test.ts'
