import { parseArgs } from 'node:util'
import { UsageError } from './usage-error.ts'

/** What was typed. What is absent is asked for, or has its default. */
export interface CommandLine {
  readonly folder?: string
  readonly template?: string
  /** Ask nothing. */
  readonly yes: boolean
  readonly help: boolean
  readonly version: boolean
}

/**
 * Reads what was typed behind `create-webloom`, and what npm kept of it.
 *
 * npm takes options that do not stand behind `--` for its own: of `npm create webloom@latest my-crawler --yes` the command
 * gets `my-crawler` alone. It tells in the environment what it took.
 */
export function readCommandLine(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): CommandLine {
  const { values, positionals } = parsed(argv)
  if (positionals.length > 1)
    throw new UsageError(
      `expected one folder, and got ${positionals.length}: ${positionals.join(' ')}\n(create-webloom --help shows what there is)`,
    )
  const [folder] = positionals
  const template = values.template ?? (env.npm_config_template || undefined)
  return {
    ...(folder !== undefined && { folder }),
    ...(template !== undefined && { template }),
    yes: values.yes === true || env.npm_config_yes === 'true',
    help: values.help === true,
    version: values.version === true,
  }
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        template: { type: 'string', short: 't' },
        yes: { type: 'boolean', short: 'y' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'V' },
      },
    })
  } catch (error) {
    // Its first sentence names the option; the others tell how to pass arguments that begin with a dash.
    const [reason] = (error as Error).message.split('. ')
    throw new UsageError(`${reason}\n(create-webloom --help shows what there is)`)
  }
}
