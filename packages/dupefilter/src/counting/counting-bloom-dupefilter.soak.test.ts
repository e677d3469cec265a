/** The contract in each size. */

import './counting-bloom-dupefilter.test.ts'
