#!/usr/bin/env node
// Plain JavaScript that an old Node can read, so that it can say what is wrong instead of failing on new syntax.
const WANTED = [22, 19]
const [major, minor] = process.versions.node.split('.').map(Number)

if (major < WANTED[0] || (major === WANTED[0] && minor < WANTED[1])) {
  console.error(
    `webloom needs Node ${WANTED.join('.')} or later; this is Node ${process.versions.node} (${process.execPath}).\n` +
      'In this folder:   npm install --save-dev node@24   and then   npx webloom …\n' +
      'Or get it from https://nodejs.org/',
  )
  process.exit(2)
}

import('../dist/cli.js').then(
  ({ main }) => main(process.argv),
  (error) => {
    if (error.code === 'ERR_MODULE_NOT_FOUND' && String(error.message).includes('dist')) {
      console.error('webloom is not built yet. In the repository:   npm run build')
      process.exit(2)
    }
    throw error
  },
)
