/**
 * The parts of undici that connections are made of. `import 'undici'` would load all of it, with `fetch`, caches, mocks and WebSocket:
 * three times as many modules, and 5 MB of a process before its first page.
 */

import { createRequire } from 'node:module'
import type * as undici from 'undici'

const require = createRequire(import.meta.url)

export const Client = require('undici/lib/dispatcher/client.js') as typeof undici.Client
export type Client = undici.Client

export const Pool = require('undici/lib/dispatcher/pool.js') as typeof undici.Pool
export type Pool = undici.Pool
export type PoolOptions = undici.Pool.Options

export const ProxyAgent = require('undici/lib/dispatcher/proxy-agent.js') as typeof undici.ProxyAgent
export type ProxyAgent = undici.ProxyAgent

export const buildConnector = require('undici/lib/core/connect.js') as typeof undici.buildConnector
export type Connector = undici.buildConnector.connector

// As undici's index does it: a tunnel through a proxy is made by one of these methods, `connect`.
Object.assign(require('undici/lib/dispatcher/dispatcher.js').prototype, require('undici/lib/api'))
