/** Commands to Redis by what they do: scripts of ours and of BullMQ's by their names. */

import { hash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const textsIn = (pattern: string): [name: string, text: string][] =>
  globSync(pattern, { cwd: ROOT }).map((path) => [
    path.replace(/^.*\/(?:lua|commands)\//, '').replace(/\.lua$/, ''),
    readFileSync(join(ROOT, path), 'utf8'),
  ])
/** A script of ours is several files, one in the other; the last that is more than an answer, by its folder and name, says what it does. */
const OURS = textsIn('packages/*/lua/**/*.lua')
const ANSWERS = OURS.filter(([name]) => /\b(?:reply|pushed|doubted)$/.test(name))
/** BullMQ puts other files into its scripts, behind the first lines. */
const BULLMQ = textsIn('node_modules/bullmq/dist/cjs/commands/*.lua').map(
  ([name, text]) => [name.replace(/-\d+$/, ''), text.slice(0, 150)] as const,
)

/** Calls a command by what it does: a script by its name, anything else by its verb. */
export class CommandNames {
  readonly #bySha = new Map<string, string>()

  /** Empty for a hash whose script has never come by: its text must be sent first. */
  nameOf([verb = '', script = '']: readonly string[]): string {
    if (verb === 'EVALSHA') return this.#bySha.get(script) ?? ''
    if (verb !== 'EVAL') return verb
    const sha = hash('sha1', script)
    const name = this.#bySha.get(sha) ?? scriptName(script)
    this.#bySha.set(sha, name)
    return name
  }
}

function scriptName(nested: string): string {
  // Each file of ours is a function inside the one before it (`luaScriptsIn`).
  const text = nested.replace(/(?:end\)\(\)\n)+$/, '').replaceAll('\nreturn (function()\n', '')
  const answer = ANSWERS.find(([, lua]) => text.endsWith(lua))
  const said = answer ? text.slice(0, -answer[1].length).trimEnd() : text
  const ours = OURS.find(([, lua]) => said.endsWith(lua) || said.endsWith(lua.trimEnd()))
  const bullmq = BULLMQ.find(([, start]) => text.startsWith(start))
  return ours?.[0] ?? (bullmq ? `bullmq ${bullmq[0]}` : `script ${hash('sha1', nested)}`)
}

/** The arguments of a script behind its keys. */
export function argumentsOf([, , keyCount = '0', ...rest]: readonly string[]): readonly string[] {
  return rest.slice(Number(keyCount))
}
