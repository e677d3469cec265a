/** `npm create webloom@latest`: what was typed, questions for the rest, the project, and what to do next. */

import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type CommandLine, readCommandLine } from './command-line.ts'
import { isTooOld } from './node-version.ts'
import { commandsOf, type PackageManager, packageManagerOf } from './package-manager.ts'
import { Cancelled, Questions } from './questions.ts'
import { type TargetFolder, targetFolder } from './target-folder.ts'
import { DEFAULT_TEMPLATE, type Template, templateList, templateNamed, templates } from './templates.ts'
import { typed } from './typed.ts'
import { UsageError } from './usage-error.ts'
import { writeProject } from './write-project.ts'

const DEFAULT_FOLDER = 'my-crawler'

const USAGE = 2
// As a shell has it for a command that SIGINT ended.
const INTERRUPTED = 130

/** Runs the command line of this process, and sets its exit code: 0 written, 2 not as it was typed, 130 Ctrl-C. */
export async function main(): Promise<void> {
  try {
    await run(readCommandLine(process.argv.slice(2), process.env))
  } catch (error) {
    if (error instanceof Cancelled) {
      console.error('\nNothing was written.')
      process.exitCode = INTERRUPTED
    } else if (error instanceof UsageError) {
      console.error(`create-webloom: ${error.message}`)
      process.exitCode = USAGE
    } else throw error
  }
}

async function run(line: CommandLine): Promise<void> {
  const version = ownVersion()
  if (line.help) console.log(help())
  else if (line.version) console.log(version)
  else {
    const { target, template } = await choices(line)
    const manager = packageManagerOf(process.env.npm_config_user_agent)
    writeProject(template, target, { webloom: version, node: process.versions.node, manager })
    console.log(nextSteps(target, template, manager))
  }
}

interface Choices {
  readonly target: TargetFolder
  readonly template: Template
}

/** What was typed is judged before anything is asked. Without a terminal nothing is asked. */
async function choices({ folder, template, yes }: CommandLine): Promise<Choices> {
  const here = currentFolder()
  const given = {
    target: folder === undefined ? undefined : targetFolder(folder, here),
    template: template === undefined ? undefined : templateNamed(template),
  }
  const isAsking = !yes && process.stdin.isTTY && process.stdout.isTTY
  if (!isAsking)
    return {
      target: given.target ?? targetFolder(DEFAULT_FOLDER, here),
      template: given.template ?? templateNamed(DEFAULT_TEMPLATE),
    }
  using questions = new Questions(process.stdin, process.stdout)
  const check = (name: string) => targetFolder(name, here)
  return {
    target: given.target ?? check(await questions.folder(DEFAULT_FOLDER, check)),
    template: given.template ?? (await questions.template(templates())),
  }
}

function currentFolder(): string {
  try {
    return process.cwd()
  } catch {
    throw new UsageError('the folder of this terminal is gone. Go to one that is there:  cd')
  }
}

function nextSteps({ path }: TargetFolder, template: Template, manager: PackageManager): string {
  const [install, start] = commandsOf(manager)
  const folder = relative('', path)
  const width = Math.max(install.length, start.length, folder.length + 3)
  const steps = [
    ...(folder === '' ? [] : [`cd ${typed(folder)}`]),
    install,
    `${start.padEnd(width)}   crawls a small bundled site into items.jsonl; yours is one line of spider.ts`,
  ]
  const node = isTooOld(process.versions.node)
    ? `\n\nThis is Node ${process.versions.node}, and Webloom needs 22.19 or later: the project brings one of its own, for its scripts.`
    : ''
  return `\n${folder || 'This folder'} is a project of the template ${template.name}. What to do next:\n\n${steps.map((step) => `  ${step}`).join('\n')}${node}\n`
}

function help(): string {
  return `Usage: npm create webloom@latest [folder] [-- options]
       npx create-webloom [folder] [options]

Writes a crawler project into a new folder. Asks for what is not given.

Options:
  -t, --template <name>  what the project is to be (default: ${DEFAULT_TEMPLATE})
  -y, --yes              ask nothing: the folder is ${DEFAULT_FOLDER} unless one is given
  -V, --version          print the version, which is that of the webloom the project gets
  -h, --help             print this

Templates:
${templateList(templates())}`
}

function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}
