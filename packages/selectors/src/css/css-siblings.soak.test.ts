/** What css-select finds, by more seeds. */

import './css-siblings.test.ts'
