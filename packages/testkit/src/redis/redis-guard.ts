import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'

/**
 * Cleans up behind this process when it can no longer do it itself: killed with SIGKILL, crashed, cut off by a test
 * runner's timeout. A shell in a session of its own waits for the end of its input, which comes when this process is
 * gone, however that happened; then it runs the last command it was told.
 */
export class Guard {
  readonly #shell: ChildProcess

  constructor() {
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT], {
      cwd: '/',
      detached: true, // so that Ctrl-C, which goes to the whole group, does not end it first
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#shell.unref()
    const input = this.#shell.stdin
    input?.on('error', () => {}) // A guard that somebody killed is no reason to fail a test.
    if (input instanceof Socket) input.unref()
  }

  /** What is to be run when this process ends, one line of shell; it takes the place of the one before. */
  onEnd(command: string): void {
    this.#shell.stdin?.write(`${command}\n`)
  }

  /** Nothing is left to be cleaned up. */
  dismiss(): void {
    this.#shell.stdin?.end('true\n')
  }
}

const SCRIPT = 'last=true; while IFS= read -r line; do last=$line; done; eval "$last"'

/** A word for the shell, whatever is in it. */
export function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
