import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIPv4, type Server, type Socket } from 'node:net'

/** What the server answers about one name. */
export interface DnsRecords {
  /** IPv4 and IPv6 addresses; those of the kind that was asked for are sent. */
  readonly addresses: readonly string[]
  /** Seconds. Default 60. */
  readonly ttl?: number
}

export interface DnsServerOptions {
  /**
   * What is known of a name, asked for each question, so that answers may change; undefined: the name does not exist;
   * 'silent': no answer is ever sent; 'refused': it is, at once, and says that the server does not look; 'unreadable': one that points to
   * a name behind its own end.
   */
  readonly answer: (name: string) => DnsRecords | undefined | 'silent' | 'refused' | 'unreadable'
  /** Milliseconds until an answer is sent. Default 0. */
  readonly delayMs?: number
  /** Answers over UDP say that they are cut, so that the client asks again over TCP. */
  readonly isCut?: boolean
}

const TYPE_A = 1
const TYPE_AAAA = 28
const NAME_DOES_NOT_EXIST = 3
const REFUSED = 5
const DEFAULT_TTL = 60

/** A name server on 127.0.0.1, UDP and TCP on one port. `await using dns = await startDnsServer({ answer })`. */
export async function startDnsServer(options: DnsServerOptions): Promise<DnsServer> {
  const server = new DnsServer(options)
  await server.listen()
  return server
}

export class DnsServer implements AsyncDisposable {
  /** Each question in order, such as `A a.test`. */
  readonly asked: string[] = []
  readonly #options: DnsServerOptions
  readonly #udp: UdpSocket = createSocket('udp4')
  readonly #tcp: Server = createServer((socket) => this.#serve(socket))
  readonly #sockets = new Set<Socket>()
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(options: DnsServerOptions) {
    this.#options = options
    this.#udp.on('message', (query, from) => {
      this.#answer(query, options.isCut ?? false, (reply) => this.#udp.send(reply, from.port, from.address))
    })
  }

  /** `127.0.0.1:port` */
  get address(): string {
    return `127.0.0.1:${(this.#tcp.address() as AddressInfo).port}`
  }

  async listen(): Promise<void> {
    this.#tcp.listen(0, '127.0.0.1')
    await once(this.#tcp, 'listening')
    this.#udp.bind((this.#tcp.address() as AddressInfo).port, '127.0.0.1')
    await once(this.#udp, 'listening')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    for (const socket of this.#sockets) socket.destroy()
    this.#udp.close()
    this.#tcp.close()
    await once(this.#tcp, 'close')
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {})
    let received = Buffer.alloc(0)
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0)
        this.#answer(received.subarray(2, end), false, (reply) => {
          if (socket.writable) socket.write(Buffer.concat([uint16(reply.length), reply]))
        })
        received = received.subarray(end)
      }
    })
  }

  #answer(query: Buffer, isCut: boolean, send: (reply: Buffer) => void): void {
    const { name, type, end } = questionOf(query)
    this.asked.push(`${type === TYPE_A ? 'A' : type === TYPE_AAAA ? 'AAAA' : type} ${name}`)
    const known = this.#options.answer(name)
    if (known === 'silent') return
    const isRefused = known === 'refused'
    const records = known === 'unreadable' ? [UNREADABLE_RECORD] : isRefused ? known : recordsOf(known, type)
    const reply = replyTo(query, end, isCut && !isRefused ? 'cut' : records)
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer)
        send(reply)
      },
      isRefused ? 0 : this.#options.delayMs,
    )
    this.#timers.add(timer)
  }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** Of type A, in class IN, for a minute; its name is said to be at byte 16383. */
const UNREADABLE_RECORD = Buffer.from([0xff, 0xff, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1])

function recordsOf(known: DnsRecords | undefined, type: number): Buffer[] | undefined {
  if (!known) return undefined
  const ttl = Buffer.alloc(4)
  ttl.writeUInt32BE(known.ttl ?? DEFAULT_TTL)
  return known.addresses
    .filter((address) => type === (isIPv4(address) ? TYPE_A : TYPE_AAAA))
    .map(bytesOf)
    .map((bytes) =>
      // 0xc00c points to the name in the question.
      Buffer.concat([uint16(0xc00c), uint16(type), uint16(1), ttl, uint16(bytes.length), bytes]),
    )
}

function replyTo(
  query: Buffer,
  questionEnd: number,
  records: Buffer[] | undefined | 'cut' | 'refused',
): Buffer {
  const sent = typeof records === 'object' ? records : []
  // An answer, of an authority, recursion wanted and offered.
  const flags = 0x8580 | (records === 'cut' ? 0x0200 : 0) | codeOf(records)
  const counts = Buffer.concat([uint16(1), uint16(sent.length), uint16(0), uint16(0)])
  return Buffer.concat([
    query.subarray(0, 2),
    uint16(flags),
    counts,
    query.subarray(12, questionEnd),
    ...sent,
  ])
}

function codeOf(records: Buffer[] | string | undefined): number {
  if (records === 'refused') return REFUSED
  return records ? 0 : NAME_DOES_NOT_EXIST
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail = ''] = address.split('::')
  const groupsOf = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const [before, after] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array<number>(8 - before.length - after.length).fill(0)
  return Buffer.concat([...before, ...zeros, ...after].map(uint16))
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}
