#!/usr/bin/env node
// Plain JavaScript that an old Node can read, so that it can say what is wrong instead of failing on new syntax.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

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

import(commandLine()).then(
  ({ main }) => main(process.argv),
  (error) => {
    if (error.code === 'ERR_MODULE_NOT_FOUND' && String(error.message).includes('dist')) {
      console.error('webloom is not built yet. In the repository:   npm run build')
      process.exit(2)
    }
    throw error
  },
)

// A project that has a webloom of its own is run by that one, whichever was called: its spiders extend that one's Spider.
function commandLine() {
  const own = new URL('../dist/cli.js', import.meta.url).href
  try {
    const exported = createRequire(join(process.cwd(), 'package.json')).resolve('webloom')
    return exported.endsWith(join('dist', 'index.js')) ? new URL('cli.js', pathToFileURL(exported)).href : own
  } catch {
    return own
  }
}
