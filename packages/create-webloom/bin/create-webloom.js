#!/usr/bin/env node
// Plain JavaScript that an old Node can read, so that it can say what is wrong instead of failing on new syntax.

// What writes the project runs on older ones than Webloom does: it then gives the project a newer Node of its own.
const WANTED = 20

if (Number(process.versions.node.split('.')[0]) < WANTED) {
  console.error(
    `create-webloom needs Node ${WANTED} or later, and Webloom 22.19; this is Node ${process.versions.node} (${process.execPath}).\n` +
      'With a newer one for this command:   npx -p node@24 -p create-webloom@latest create-webloom my-crawler\n' +
      'Or get it from https://nodejs.org/',
  )
  process.exit(2)
}

import('../dist/main.js').then(
  ({ main }) => main(),
  (error) => {
    if (error.code === 'ERR_MODULE_NOT_FOUND' && String(error.message).includes('dist')) {
      console.error('create-webloom is not built yet. In the repository:   npm run build')
      process.exit(2)
    }
    throw error
  },
)
