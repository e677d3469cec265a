import { execFileSync } from 'node:child_process'
import * as undici from 'undici'
import { expect, test } from 'vitest'
import * as parts from './undici-parts.ts'

test('these parts are what undici exports', () => {
  const { Client, Pool, ProxyAgent, buildConnector } = undici
  expect({ ...parts }).toEqual({ Client, Pool, ProxyAgent, buildConnector })
})

test('a process that loads no other part of undici can make tunnels', () => {
  const file = new URL('./undici-parts.ts', import.meta.url)
  const line = `import { Pool } from '${file}'; console.log(typeof Pool.prototype.connect)`
  const asked = ['--input-type=module', '-e', line]
  expect(execFileSync(process.execPath, asked, { encoding: 'utf8' }).trim()).toBe('function')
})
