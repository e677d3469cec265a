/** The files that pages ask for: ours, and uPlot's as it is published. Read once, and never by a name that a request gives. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Context } from 'hono'

const { resolve } = createRequire(import.meta.url)
const own = (name: string) => new URL(`../../assets/${name}`, import.meta.url)

/** In the order in which later rules count before earlier ones. */
const STYLES = ['colours', 'ground', 'frame', 'pieces', 'pictures', 'tables', 'forms', 'narrow']

const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

/** Each is one file, or several that are sent as one. */
const FILES: Readonly<Record<string, readonly [files: readonly (string | URL)[], type: string]>> = {
  'dashboard.css': [STYLES.map((name) => own(`css/${name}.css`)), CSS],
  'dashboard.js': [[own('dashboard.js')], SCRIPT],
  'icon.svg': [[own('icon.svg')], 'image/svg+xml'],
  'uplot.js': [[resolve('uplot/dist/uPlot.iife.min.js')], SCRIPT],
  'uplot.css': [[resolve('uplot/dist/uPlot.min.css')], CSS],
}

interface Asset {
  readonly body: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly tag: string
}

const known = new Map<string, Asset>()

export function answerAsset(c: Context, name: string): Response {
  const asset = assetOf(name)
  if (!asset) return c.text('there is no such file\n', 404)
  const headers = { 'Content-Type': asset.type, ETag: asset.tag, 'Cache-Control': 'no-cache' }
  if (c.req.header('if-none-match') === asset.tag) return c.body(null, 304, headers)
  return c.body(asset.body, 200, headers)
}

function assetOf(name: string): Asset | undefined {
  if (!Object.hasOwn(FILES, name)) return undefined
  const asset = known.get(name) ?? readAsset(...FILES[name]!)
  known.set(name, asset)
  return asset
}

function readAsset(files: readonly (string | URL)[], type: string): Asset {
  const body = new Uint8Array(Buffer.concat(files.map((file) => readFileSync(file))))
  return { body, type, tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 20)}"` }
}
