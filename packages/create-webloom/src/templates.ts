import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UsageError } from './usage-error.ts'

/** A folder of `templates/`. Nothing else has to be told of it. */
export interface Template {
  readonly name: string
  /** From its package.json. */
  readonly description: string
  readonly path: string
}

/** The one that is taken when none is named, and the first one shown. */
export const DEFAULT_TEMPLATE = 'quotes'

/** What all templates have in common. A template's own file of the same name wins. */
export const SHARED_FILES = fileURLToPath(new URL('../shared', import.meta.url))

const MANAGERS = fileURLToPath(new URL('../managers', import.meta.url))

const OWN_NODE = fileURLToPath(new URL('../own-node', import.meta.url))

const TEMPLATES = fileURLToPath(new URL('../templates', import.meta.url))

/** The folder of what a package manager needs of its own in each project; undefined when it needs nothing. */
export function filesOfManager(manager: string): string | undefined {
  return readdirSync(MANAGERS).includes(manager) ? join(MANAGERS, manager) : undefined
}

/** The same for a project that brings a Node of its own, as the one of the machine is too old. */
export function filesOfOwnNode(manager: string): string | undefined {
  return readdirSync(OWN_NODE).includes(manager) ? join(OWN_NODE, manager) : undefined
}

/** Returns all templates, the default first and the others by name. */
export function templates(folder = TEMPLATES): readonly Template[] {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
  return [
    ...names.filter((name) => name === DEFAULT_TEMPLATE),
    ...names.filter((name) => name !== DEFAULT_TEMPLATE),
  ].map((name) => {
    const path = join(folder, name)
    const { description } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    return { name, description, path }
  })
}

/** Throws `UsageError` with what there is when there is none of that name. */
export function templateNamed(name: string, all: readonly Template[] = templates()): Template {
  const found = all.find((template) => template.name === name)
  if (found) return found
  throw new UsageError(`there is no template ${JSON.stringify(name)}. There are:\n\n${templateList(all)}`)
}

/** A line for each, its name and what it is. */
export function templateList(all: readonly Template[]): string {
  const width = Math.max(...all.map(({ name }) => name.length))
  return all.map(({ name, description }) => `  ${name.padEnd(width)}  ${description}`).join('\n')
}
