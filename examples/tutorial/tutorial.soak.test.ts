/** Each command of the tutorial as a process of its own. */

import './tutorial.test.ts'
