/** Each command that has a page rendered, with a browser of its own. */

import './author-commands.test.ts'
