/** In packages of each type. */

import './typescript-loader.test.ts'
