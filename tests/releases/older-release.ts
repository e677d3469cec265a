/** The release before this one, built from git in a folder of its own. */

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { runProcess, type TempDir, tempDir } from '@webloom/testkit'

const ROOT = join(import.meta.dirname, '../..')
/** Until there is a tag: the last commit of before several Redis servers, prefixes of keys and health checks. */
const BEFORE_THE_FIRST_RELEASE = '8921fc4fdb885c344df5a8bf83b8e4e1d19a64b2'
const BUILD_MS_MAX = 900_000

const git = (...words: string[]) => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim()

/** The newest tag of a release that is not this commit itself. */
function lastRelease(): string {
  const tags = git('tag', '--list', 'v*', '--sort=-v:refname').split('\n').filter(Boolean)
  const here = git('rev-parse', 'HEAD')
  return tags.find((tag) => git('rev-parse', `${tag}^{commit}`) !== here) ?? BEFORE_THE_FIRST_RELEASE
}

export class OlderRelease implements AsyncDisposable {
  readonly #dir: TempDir

  private constructor(dir: TempDir) {
    this.#dir = dir
  }

  /** Takes some minutes, and asks the npm registry. */
  static async build(): Promise<OlderRelease> {
    const release = new OlderRelease(await tempDir())
    git('archive', '--output', release.#dir.join('sources.tar'), lastRelease())
    await release.#run('tar', '-xf', 'sources.tar')
    await release.#run('npm', 'ci', '--no-audit', '--no-fund')
    await release.#run('npm', 'run', '--silent', 'build')
    return release
  }

  /** Of its package `webloom`. */
  get home(): string {
    return this.#dir.join('packages/webloom')
  }

  async #run(command: string, ...words: string[]): Promise<void> {
    const { code, stdout, stderr } = await runProcess(command, words, {
      cwd: this.#dir.path,
      // What npm tells its scripts about this checkout is not true there.
      env: { NODE_ENV: undefined, npm_config_local_prefix: undefined, INIT_CWD: undefined },
      timeoutMs: BUILD_MS_MAX,
    })
    if (code !== 0)
      throw new Error(`${command} ${words.join(' ')} in the release before this one:\n${stdout}${stderr}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dir.remove()
  }
}
