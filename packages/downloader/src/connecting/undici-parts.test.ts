import * as undici from 'undici'
import { expect, test } from 'vitest'
import * as parts from './undici-parts.ts'

test('these parts are what undici exports', () => {
  const { Client, Pool, ProxyAgent, buildConnector } = undici
  expect({ ...parts }).toEqual({ Client, Pool, ProxyAgent, buildConnector })
})
