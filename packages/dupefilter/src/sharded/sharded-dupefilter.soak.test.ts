/** The contract with each kind of filter in parts: `npm test` tries one in a list of servers, and one on one server. */

import './filter-parts.test.ts'
import './sharded-dupefilter.test.ts'
