/** A debugger, as far as a breakpoint needs one: what an editor does with `.vscode/launch.json`, over the same protocol. */

import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { startProcess } from '@webloom/testkit'

/** Where the program stopped, and what an expression was worth there. */
export interface Stop {
  /** Counted from 1, as an editor shows it. */
  readonly line: number
  readonly url: string
  readonly value: unknown
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly callFrames: readonly Frame[]; readonly hitBreakpoints?: readonly string[] }
  readonly result?: { readonly result?: { readonly value: unknown } }
}

interface Frame {
  readonly callFrameId: string
  readonly url: string
  readonly location: { readonly lineNumber: number }
}

/** Runs a program of Node under a debugger until it stops at the line of the file, and evaluates the expression there. */
export async function stopAt(
  place: { readonly file: string; readonly line: number; readonly expression: string },
  args: readonly string[],
  cwd: string,
): Promise<Stop> {
  await using program = startProcess(process.execPath, ['--inspect-brk=127.0.0.1:0', ...args], { cwd })
  const [, url] = await program.waitForOutput(/Debugger listening on (ws:\S+)/)
  const debug = await Debugger.connect(url!)
  try {
    const url = pathToFileURL(place.file).href
    await debug.call('Debugger.enable')
    await debug.call('Debugger.setBreakpointByUrl', { url, lineNumber: place.line - 1 })
    const [frame] = await debug.nextStop('Runtime.runIfWaitingForDebugger')
    const { expression } = place
    const { result } = await debug.call('Debugger.evaluateOnCallFrame', {
      callFrameId: frame!.callFrameId,
      expression,
      returnByValue: true,
    })
    return { line: frame!.location.lineNumber + 1, url: frame!.url, value: result?.result?.value }
  } finally {
    debug.close()
  }
}

class Debugger {
  readonly #socket: WebSocket
  #calls = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  static async connect(url: string): Promise<Debugger> {
    const socket = new WebSocket(url)
    await once(socket, 'open')
    return new Debugger(socket)
  }

  call(method: string, params: object = {}): Promise<Message> {
    const id = ++this.#calls
    const answer = this.#message((message) => message.id === id)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return answer
  }

  /** Goes on until a breakpoint is hit; the stop before the first line is none. */
  async nextStop(method: string): Promise<readonly Frame[]> {
    const stopped = this.#message(({ method, params }) => {
      if (method !== 'Debugger.paused') return false
      if (params!.hitBreakpoints?.length) return true
      void this.call('Debugger.resume')
      return false
    })
    await this.call(method)
    return (await stopped).params!.callFrames
  }

  close(): void {
    this.#socket.close()
  }

  #message(isIt: (message: Message) => boolean): Promise<Message> {
    const { promise, resolve, reject } = Promise.withResolvers<Message>()
    const look = ({ data }: MessageEvent) => {
      const message = JSON.parse(data as string) as Message
      if (!isIt(message)) return
      this.#socket.removeEventListener('message', look)
      resolve(message)
    }
    this.#socket.addEventListener('message', look)
    this.#socket.addEventListener('close', () =>
      reject(new Error('the program ended before it stopped there')),
    )
    return promise
  }
}
