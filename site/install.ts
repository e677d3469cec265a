/** Installs what the site is built with, when it is not there or its lock file has changed since. */

import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const LOCK = join(import.meta.dirname, 'package-lock.json')
const INSTALLED = join(import.meta.dirname, 'node_modules/.installed-lock.json')

function isInstalled(): boolean {
  return existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === readFileSync(LOCK, 'utf8')
}

if (!isInstalled()) {
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status === 0) copyFileSync(LOCK, INSTALLED)
  else {
    console.error('The site’s packages are not installed: npm ci failed in site/. Run it there to see why.')
    process.exitCode = 1
  }
}
