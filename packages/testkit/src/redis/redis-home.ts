import { randomUUID } from 'node:crypto'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type StartedProcess, startProcess } from '../processes/run-process.ts'
import { type TempDir, tempDir } from '../processes/temp-dir.ts'
import { Guard, shellQuoted } from './redis-guard.ts'
import { engineSays, type RedisProgram } from './redis-program.ts'

/** Settings of redis.conf. */
export type RedisConfig = Readonly<Record<string, string>>

/**
 * Where one server lives from its first start to its last: its files stay when it is killed, for the next start.
 * Nothing of it outlives this process.
 */
export interface RedisHome {
  /** Starts the server in the foreground: the process writes its log and ends with it. */
  start(config: RedisConfig): StartedProcess
  /** The server's process id, as this machine's `kill` and `ps` know it. */
  pid(): Promise<number>
  signal(signal: NodeJS.Signals): Promise<void>
  /** Copies the append-only folder as it is now, over an earlier copy. The server runs on. */
  copyAppendOnly(): Promise<void>
  /** Puts that copy in the folder's place. The server must have ended. */
  putCopyBack(): Promise<void>
  /** Deletes the files. The server must have ended. */
  remove(): Promise<void>
}

export async function makeRedisHome(program: RedisProgram, port: number): Promise<RedisHome> {
  if (program.kind === 'container') return new ContainerHome(program, port)
  return new FolderHome(program.path, await tempDir('webloom-redis-'), port)
}

/** A temporary folder, and the `redis-server` of this machine. */
class FolderHome implements RedisHome {
  readonly #guard = new Guard()
  readonly #path: string
  readonly #folder: TempDir
  readonly #port: number
  #server: StartedProcess | undefined

  constructor(path: string, folder: TempDir, port: number) {
    this.#path = path
    this.#folder = folder
    this.#port = port
  }

  start(config: RedisConfig): StartedProcess {
    const own = { port: String(this.#port), bind: '127.0.0.1', dir: this.#folder.path }
    this.#server = startProcess(this.#path, flagsOf({ ...own, ...config }), { timeoutMs: RUN_TIMEOUT_MS })
    this.#guard.onEnd(`kill -9 ${this.#server.pid}; rm -rf -- ${shellQuoted(this.#folder.path)}`)
    return this.#server
  }

  async pid(): Promise<number> {
    return this.#server!.pid!
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    this.#server?.kill(signal)
  }

  async copyAppendOnly(): Promise<void> {
    await rm(join(this.#folder.path, COPY), { recursive: true, force: true })
    await cp(join(this.#folder.path, APPEND_ONLY), join(this.#folder.path, COPY), { recursive: true })
  }

  async putCopyBack(): Promise<void> {
    await rm(join(this.#folder.path, APPEND_ONLY), { recursive: true, force: true })
    await cp(join(this.#folder.path, COPY), join(this.#folder.path, APPEND_ONLY), { recursive: true })
  }

  async remove(): Promise<void> {
    this.#guard.dismiss()
    await this.#folder.remove()
  }
}

/** Redis's name for the folder of its append-only file, and ours for the copy. */
const APPEND_ONLY = 'appendonlydir'
const COPY = 'appendonlydir.copy'

/** A volume, and a container for each start. The port is published on loopback only. */
class ContainerHome implements RedisHome {
  readonly #guard = new Guard()
  readonly #engine: string
  readonly #image: string
  readonly #port: number
  readonly #volume = `webloom-redis-${randomUUID()}`
  #starts = 0

  constructor({ engine, image }: { engine: string; image: string }, port: number) {
    this.#engine = engine
    this.#image = image
    this.#port = port
  }

  /** Each start has a name of its own, as the engine removes the last container a moment after it has ended. */
  get #container(): string {
    return `${this.#volume}-${this.#starts}`
  }

  start(config: RedisConfig): StartedProcess {
    this.#starts++
    const own = { port: String(this.#port), 'protected-mode': 'no', dir: '/data' }
    const flags = ['--rm', '--name', this.#container, '--volume', `${this.#volume}:/data`]
    const published = ['--publish', `127.0.0.1:${this.#port}:${this.#port}`, '--entrypoint', 'redis-server']
    this.#guard.onEnd(
      `${this.#engine} rm -f ${this.#container}; ${this.#engine} volume rm -f ${this.#volume}`,
    )
    return startProcess(
      this.#engine,
      ['run', ...flags, ...published, this.#image, ...flagsOf({ ...own, ...config })],
      { timeoutMs: RUN_TIMEOUT_MS },
    )
  }

  async pid(): Promise<number> {
    const { stdout } = await engineSays(
      this.#engine,
      'inspect',
      '--format',
      '{{.State.Pid}}',
      this.#container,
    )
    return Number(stdout)
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    await engineSays(this.#engine, 'kill', '--signal', signal, this.#container)
  }

  copyAppendOnly(): Promise<void> {
    return this.#inVolume(`rm -rf ${COPY} && cp -a ${APPEND_ONLY} ${COPY}`)
  }

  putCopyBack(): Promise<void> {
    return this.#inVolume(`rm -rf ${APPEND_ONLY} && cp -a ${COPY} ${APPEND_ONLY}`)
  }

  /** Runs a line of shell where the files are, in a container of its own. */
  async #inVolume(line: string): Promise<void> {
    const where = [
      '--rm',
      '--volume',
      `${this.#volume}:/data`,
      '--workdir',
      '/data',
      '--entrypoint',
      '/bin/sh',
    ]
    await engineSays(this.#engine, 'run', ...where, this.#image, '-c', line)
  }

  async remove(): Promise<void> {
    // The container may be on its way out still, and holds the volume until then.
    await engineSays(this.#engine, 'rm', '--force', this.#container)
    await engineSays(this.#engine, 'volume', 'rm', '--force', this.#volume)
    this.#guard.dismiss()
  }
}

/** The longest a Node timer waits, 24 days: a server runs until it is stopped. */
const RUN_TIMEOUT_MS = 2 ** 31 - 1

function flagsOf(config: RedisConfig): string[] {
  return Object.entries(config).flatMap(([name, value]) => [`--${name}`, value])
}
