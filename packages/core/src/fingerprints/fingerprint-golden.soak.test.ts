/** More of what fast-check makes up. */

import './fingerprint-golden.test.ts'
