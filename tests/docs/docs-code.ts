/** Code in Markdown: blocks, and command lines. */

import { CommanderError } from 'commander'
import { commandLine } from '../../packages/webloom/src/cli.ts'

/** What a block stands in, when it is a part of a file. */
export type Part = 'a callback' | 'a spider' | 'settings'

export interface CodeBlock {
  readonly page: string
  /** Of its first line of code. */
  readonly line: number
  readonly language: string
  readonly code: string
  readonly part?: Part
  /** Code that comes before a part. */
  readonly given?: string
  /** What its spider is tried on. */
  readonly itsPage?: string
}

const BLOCK =
  /^(?:<!-- code in (?<part>a callback|a spider|settings)(?:\. Given: (?<given>[\s\S]*?))? -->\n\n?)?(?:<!-- its page: (?<itsPage>.*) -->\n)?```(?<language>\w*)\n(?<code>[\s\S]*?)^```$/gm

export function codeBlocks(page: string, markdown: string): CodeBlock[] {
  return [...markdown.matchAll(BLOCK)].map((found) => {
    const { part, given, itsPage, language = '', code = '' } = found.groups ?? {}
    const line = markdown.slice(0, found.index + found[0].indexOf('```')).split('\n').length + 1
    return {
      page,
      line,
      language,
      code,
      ...(part && { part: part as Part }),
      ...(given && { given }),
      ...(itsPage && { itsPage }),
    }
  })
}

/** Each command line of webloom in a shell script or a Dockerfile, without its first word. */
export function commandLines(language: string, code: string): string[][] {
  const lines = code.replaceAll('\\\n', ' ').split('\n')
  if (language === 'dockerfile') return lines.flatMap(dockerCommand)
  if (language !== 'sh') return []
  return lines.flatMap((line) => commands(line).flatMap(webloomArguments))
}

/** The commands of a shell script, each as its words; what is before `&&`, `|` and the like is a command of its own. */
export function shellCommands(code: string): string[][] {
  return code
    .replaceAll('\\\n', ' ')
    .split('\n')
    .flatMap(commands)
    .filter((command) => command.length > 0)
}

/** Of an image whose entry point is webloom, or with its path. */
function dockerCommand(line: string): string[][] {
  if (!line.startsWith('CMD ')) return []
  const args = JSON.parse(line.slice('CMD '.length)) as string[]
  return [args[0]?.endsWith('/webloom') ? args.slice(1) : args]
}

/** `webloom …` in code within sentences, where it is a whole line to type. */
export function inlineCommands(markdown: string): { line: number; text: string }[] {
  const prose = markdown.replaceAll(/```[\s\S]*?```/g, (block) => block.replaceAll(/[^\n]/g, ''))
  return [...prose.matchAll(/`((?:npx )?webloom [\w-][^`]*)`/g)].flatMap(({ index, 1: text = '' }) =>
    formsOf(text.replace(/^npx /, '').replaceAll(/\s+/g, ' ')).map((form) => ({
      line: prose.slice(0, index).split('\n').length,
      text: form,
    })),
  )
}

/** `pause\|resume <spider> [--json]` stands for two commands, with an option. */
function formsOf(text: string): string[] {
  const plain = text.replaceAll(/ \[([^[\]]*)\]/g, ' $1')
  const choice = /\S*\\\|\S*/.exec(plain)?.[0]
  return choice === undefined ? [plain] : choice.split('\\|').map((one) => plain.replace(choice, one))
}

/** The commands of a line: what stands between `&&`, `||`, `;` and `|`, without a comment. */
function commands(line: string): string[][] {
  const found: string[][] = [[]]
  for (const word of words(line)) {
    if (word.startsWith('#')) break
    if (/^(?:&&|\|\||[;|])$/.test(word)) found.push([])
    else found.at(-1)!.push(word)
  }
  return found
}

/** What follows `webloom`, behind `npx`, variables or `docker compose exec`. */
function webloomArguments(command: readonly string[]): string[][] {
  const at = command.indexOf('webloom')
  const before = command.slice(0, at)
  const isRun = before.every((word) => word === 'npx' || word.includes('=')) || before.includes('exec')
  const isRedirect = (word = '') => /^\d?[<>]/.test(word)
  const isItsFile = (word = '') => /^\d?[<>]+$/.test(word)
  const args = command.slice(at + 1)
  return at < 0 || !isRun ? [] : [args.filter((word, n) => !isRedirect(word) && !isItsFile(args[n - 1]))]
}

/** As a shell splits a line: `'…'` and `"…"` may stand anywhere in a word. */
export function words(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+/g)].map(([word]) =>
    word.replaceAll(
      /'([^']*)'|"((?:[^"\\]|\\.)*)"/g,
      (_, single?: string, double?: string) => single ?? double ?? '',
    ),
  )
}

/** Why the command line would not take this; undefined when it would. Nothing is run. */
export async function refusal(args: readonly string[]): Promise<string | undefined> {
  const program = commandLine(() => {})
  const all = (command: typeof program): (typeof program)[] => [command, ...command.commands.flatMap(all)]
  for (const command of all(program)) {
    command.configureOutput({ writeErr: () => {}, writeOut: () => {} })
    if (command.commands.length === 0) command.action(() => {})
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return undefined
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return undefined
    return (error as Error).message
  }
}
