/** What is asked, and by whom, with each kind of filter: `npm test` tries most of it with one. */

import '../asking/question-line.test.ts'
import './asking-processes.test.ts'
import './redis-dupefilter-askers.test.ts'
