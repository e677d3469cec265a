import { findInPath } from './find-in-path.ts'
import { runProcess } from './run-process.ts'

/**
 * Runs a shell script that calls apt-get, as root or where sudo asks for no password. Resolves with why it did not work;
 * with nothing when it did.
 */
export async function aptGetAsRoot(script: string, timeoutMs: number): Promise<string[]> {
  if (findInPath('apt-get') === undefined) return ['apt-get: not in PATH']
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  if (asRoot.length > 0 && !(await succeeds('sudo', '-n', 'true')))
    return ['apt-get: needs root, and sudo is not here or asks for a password']
  return aptGet([...asRoot, 'sh', '-c', script], timeoutMs)
}

/** Runs a command that calls apt-get, as who we are. */
export async function aptGet([command, ...args]: readonly string[], timeoutMs: number): Promise<string[]> {
  if (findInPath('apt-get') === undefined) return ['apt-get: not in PATH']
  const { code, stdout, stderr } = await runProcess(command!, args, { timeoutMs })
  return code === 0 ? [] : [`apt-get: ${whyEnded(code, `${stdout}\n${stderr}`)}`]
}

/**
 * Without a network `apt-get update` only warns. What then fails is a later step, which knows no package and says nothing of
 * the network.
 */
function whyEnded(code: number | null, output: string): string {
  const [, url, why] = /^[WE]: Failed to fetch (\S+)\s+(.+)$/m.exec(output) ?? []
  if (url === undefined) return `ended with ${code}: ${lastLines(output)}`
  const what = /\.u?deb$/.test(url) ? 'a package' : 'the package lists'
  return `${what} could not be fetched. Is there a network? ${url}: ${why}. When there is one again:  sudo apt-get update`
}

async function succeeds(command: string, ...args: string[]): Promise<boolean> {
  if (findInPath(command) === undefined) return false
  return (await runProcess(command, args)).code === 0
}

/** The end of what a command has written, as one line. */
export function lastLines(output: string): string {
  return output.trim().split('\n').slice(-3).join(' | ')
}
