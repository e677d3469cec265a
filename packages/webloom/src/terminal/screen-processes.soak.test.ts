/** And on a terminal of 80 columns. */

import './screen-processes.test.ts'
