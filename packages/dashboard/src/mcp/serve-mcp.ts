/** `webloom mcp`: MCP over standard input and output. */

import type { Readable, Writable } from 'node:stream'
import { UsageError } from '@webloom/core'
import type { McpOptions } from './mcp-server.ts'

export interface ServeMcpOptions extends McpOptions {
  readonly input: Readable
  /** Nothing else may be written there. */
  readonly output: Writable
  /** Told what is wrong with what comes in; it is not answered, as nobody knows which call it was. */
  readonly onTrouble?: (words: string) => void
  /** Ends it. */
  readonly signal?: AbortSignal
}

/** Resolves when the input ends, or the signal comes; rejects when a line is longer than is read. The desks are their giver's. */
export async function serveMcp({
  input,
  output,
  signal,
  onTrouble,
  ...options
}: ServeMcpOptions): Promise<void> {
  // Loaded when it is called for: a dashboard without it needs none of this.
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js')
  const { mcpServer } = await import('./mcp-server.ts')
  const server = mcpServer(options)
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  server.onclose = () => resolve()
  let tooLong: UsageError | undefined
  server.onerror = (error) => {
    tooLong ??= tooLongOf(error)
    if (!tooLong)
      onTrouble?.(`a line of the input is not a message of the protocol: ${error.message.slice(0, 200)}`)
  }
  input.once('end', () => resolve()).once('close', () => resolve())
  // Whoever reads is gone.
  output.once('error', () => resolve())
  signal?.addEventListener('abort', () => resolve(), { once: true })
  await server.connect(new StdioServerTransport(input, output))
  if (signal?.aborted) resolve()
  await ended
  await server.close()
  if (tooLong) throw tooLong
}

const TOO_LONG = /exceeded maximum size of (\d+)/

function tooLongOf({ message }: Error): UsageError | undefined {
  const most = TOO_LONG.exec(message)?.[1]
  if (most === undefined) return undefined
  const words = `a line of the input has more than ${Number(most) / 2 ** 20} MiB, and no call of a tool is that long`
  return new UsageError('WL_USAGE', words)
}
