/** The peers, installed beside this file on the first run: Python ones in a virtual environment, the others by npm. */

import { execFile } from 'node:child_process'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const FOLDER = join(import.meta.dirname, '.installed')
const PYTHON_PEERS = ['scrapy', 'scrapy-redis', 'scrapy-redis-bloomfilter']
const NODE_PEERS = ['@crawlee/cheerio', 'crawler']

export interface Installed {
  readonly folder: string
  readonly python: string
  /** Name and version of each. */
  readonly versions: readonly string[]
}

/** @param wanted false: none of these peers is measured, so nothing is installed and no version told */
export async function installPeers(wanted: boolean): Promise<Installed> {
  const venv = join(FOLDER, 'venv')
  const python = join(venv, 'bin', 'python')
  if (!wanted) return { folder: FOLDER, python, versions: [] }
  const isThere = await access(python).then(
    () => true,
    () => false,
  )
  if (!isThere) {
    console.error(`installing ${[...PYTHON_PEERS, ...NODE_PEERS].join(', ')} in ${FOLDER}`)
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', FOLDER, ...NODE_PEERS])
    await run('python3', ['-m', 'venv', venv])
    await run(join(venv, 'bin', 'pip'), ['install', '--quiet', ...PYTHON_PEERS])
  }
  const { stdout } = await run(join(venv, 'bin', 'pip'), ['freeze'])
  const pythonVersions = stdout.split('\n').filter((line) => /^(scrapy|redis)\b/i.test(line))
  const nodeVersions = await Promise.all(
    NODE_PEERS.map(async (name) => `${name}==${await nodeVersion(name)}`),
  )
  return { folder: FOLDER, python, versions: [...pythonVersions, ...nodeVersions] }
}

async function nodeVersion(name: string): Promise<string> {
  const text = await readFile(join(FOLDER, 'node_modules', name, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
