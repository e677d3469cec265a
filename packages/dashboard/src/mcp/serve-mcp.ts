/** `webloom mcp`: MCP over standard input and output. */

import type { Readable, Writable } from 'node:stream'
import type { McpOptions } from './mcp-server.ts'

export interface ServeMcpOptions extends McpOptions {
  readonly input: Readable
  /** Nothing else may be written there. */
  readonly output: Writable
  /** Ends it. */
  readonly signal?: AbortSignal
}

/** Resolves when the input ends, or the signal comes. The desks are their giver's. */
export async function serveMcp({ input, output, signal, ...options }: ServeMcpOptions): Promise<void> {
  // Loaded when it is called for: a dashboard without it needs none of this.
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js')
  const { mcpServer } = await import('./mcp-server.ts')
  const server = mcpServer(options)
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  server.onclose = () => resolve()
  input.once('end', () => resolve()).once('close', () => resolve())
  // Whoever reads is gone.
  output.once('error', () => resolve())
  signal?.addEventListener('abort', () => resolve(), { once: true })
  await server.connect(new StdioServerTransport(input, output))
  if (signal?.aborted) resolve()
  await ended
  await server.close()
}
