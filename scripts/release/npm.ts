import { spawnSync } from 'node:child_process'

/** How an npm command ended. */
export interface NpmResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs npm. On Windows npm is a batch file, which only a shell starts. */
export function npm(args: readonly string[], cwd: string): NpmResult {
  const shell = process.platform === 'win32'
  const { status, stdout, stderr, error } = spawnSync('npm', args, { cwd, encoding: 'utf8', shell })
  if (error) throw error
  return { code: status, stdout, stderr }
}

/** Runs npm, and throws what it said when it fails. */
export function npmOrThrow(args: readonly string[], cwd: string): string {
  const { code, stdout, stderr } = npm(args, cwd)
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code}:\n${stderr}`)
  return stdout
}
