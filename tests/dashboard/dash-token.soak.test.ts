/** `webloom dash` for others than this machine. */

import { chmodSync, writeFileSync } from 'node:fs'
import { startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { dashStarted } from './dash-processes.ts'

const TOKEN = 'a-token-of-the-test-0123456789'

test('for others there is a token, from a file that is its owner’s alone', async () => {
  await using server = await startRedis()
  await using folder = await ClusterFolder.of({ seeds: [] }, { REDIS_URL: server.url })
  const open = await folder.run('dash', '--host', '0.0.0.0', '--port', '0')
  expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('export WEBLOOM_DASH_TOKEN=')])
  writeFileSync(folder.path('token'), `${TOKEN}\n`, { mode: 0o600 })
  chmodSync(folder.path('token'), 0o644)
  const words = ['--host', '0.0.0.0', '--token-file', 'token']
  const readable = await folder.run('dash', '--port', '0', ...words)
  expect([readable.code, readable.stderr]).toEqual([2, expect.stringContaining('chmod 600 token')])
  chmodSync(folder.path('token'), 0o600)
  const url = (await dashStarted(folder, ...words)).replace('0.0.0.0', '127.0.0.1')
  expect((await fetch(`${url}api/crawls`)).status).toBe(401)
  const answer = await fetch(`${url}api/crawls`, { headers: { authorization: `Bearer ${TOKEN}` } })
  expect(await answer.json()).toEqual({ crawls: [] })
})
