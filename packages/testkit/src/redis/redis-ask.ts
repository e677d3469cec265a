import { connect, type Socket } from 'node:net'
import { encodeCommand, parseReply, type RedisReply, RespSplitter } from './redis-resp.ts'

/** Where a Redis listens. */
export interface RedisAddress {
  readonly host: string
  readonly port: number
  readonly password?: string
}

/**
 * Sends one command on a connection of its own and resolves with the reply; rejects with Redis's error, with the
 * socket's, or when no reply has come after `timeoutMs`. A connection for each command survives what tests do to
 * servers, and they do not ask often.
 */
export async function askRedis(
  address: RedisAddress,
  command: readonly (string | number | Buffer)[],
  timeoutMs = 10_000,
): Promise<RedisReply> {
  const commands = address.password === undefined ? [command] : [['AUTH', address.password], command]
  const socket = connect(address.port, address.host)
  const timer = setTimeout(() => {
    const asked = `${String(command[0])} to ${address.host}:${address.port}`
    socket.destroy(new Error(`${asked} has no reply after ${timeoutMs} ms`))
  }, timeoutMs)
  try {
    socket.write(Buffer.concat(commands.map(encodeCommand)))
    const replies = await readReplies(socket, commands.length)
    for (const reply of replies) if (reply instanceof Error) throw reply
    return replies.at(-1)!
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

async function readReplies(socket: Socket, count: number): Promise<RedisReply[]> {
  const replies: RedisReply[] = []
  const splitter = new RespSplitter()
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    for (const whole of splitter.split(chunk)) replies.push(parseReply(whole))
    if (replies.length >= count) return replies
  }
  throw new Error('Redis closed the connection before it replied')
}
