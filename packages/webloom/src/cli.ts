/**
 * The command line. Each command is a few lines here and a file in `commands/`; errors of all of them come out in
 * `main`, as one message and an exit code.
 */

import { WebloomError } from '@webloom/core'
import { Command, CommanderError } from 'commander'
import { type CrawlFlags, spiderArguments, withCrawlOptions } from './commands/crawl-options.ts'
import { list } from './commands/list.ts'
import { type PlanFlags, plan } from './commands/plan.ts'
import { runCrawl } from './commands/run-crawl.ts'
import { type SettingsFlags, showSettings } from './commands/settings.ts'
import { showVersion } from './commands/version.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { findConfig, type LoadedConfig, loadConfig, projectConfig } from './loading/config.ts'
import { findSpider, loadSpiderFile } from './loading/spider-loader.ts'
import { registerTypeScriptLoader } from './loading/typescript-loader.ts'
import { visibleLines } from './terminal/sanitize.ts'
import { VERSION } from './version.ts'

/** Runs one command line to its end and ends the process with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  let exitCode: number = EXIT.finished
  const unfinished = (code: number) => {
    // 13 is Node's for a top-level await that never ends. Any other was given on purpose.
    if (code !== 0 && code !== 13) return
    process.stderr.write(
      'webloom: ended unfinished: something waits for a promise that nothing can settle any more\n',
    )
    process.exitCode = EXIT.unexpected
  }
  // Node ends a process that has nothing left to wait for, and says nothing.
  process.once('exit', unfinished)
  const program = commandLine((code) => {
    exitCode = code
  })
  try {
    registerTypeScriptLoader()
    await program.parseAsync(argv)
  } catch (error) {
    exitCode = failure(error)
  }
  process.off('exit', unfinished)
  // A timer or socket that a spider left behind must not keep the process; what was printed must come out first.
  await new Promise((resolve) => process.stdout.write('', resolve))
  process.exit(exitCode)
}

function commandLine(setExitCode: (code: number) => void): Command {
  const program = new Command('webloom')
    .description('Write a spider as a class, run it in one process or on many machines.')
    .version(VERSION, '-V, --version', 'print the version')
    .showHelpAfterError('(webloom --help shows what there is)')
    .showSuggestionAfterError()
    .exitOverride()

  withCrawlOptions(
    program.command('crawl <spider>').description('run a spider of this project, by its name'),
  ).action(async (name: string, flags: CrawlFlags) => {
    const config = await projectConfig(process.cwd())
    const { Class } = await findSpider(config, name, spiderArguments(flags))
    setExitCode(await runCrawl(Class, flags, config))
  })
  withCrawlOptions(
    program.command('runspider <file>').description('run the spider in a file, without a project'),
  ).action(async (file: string, flags: CrawlFlags) => {
    const Class = await loadSpiderFile(file)
    setExitCode(await runCrawl(Class, flags, await configHere()))
  })
  program
    .command('list')
    .description('print the names of this project’s spiders')
    .option('--json', 'as JSON, with their files')
    .action(async (flags: { json?: boolean }) => list(await projectConfig(process.cwd()), flags))
  program
    .command('settings')
    .description('print settings as they stand in this folder')
    .option('--get <NAME>', 'the value of one')
    .option('--explain <NAME>', 'the value of one, and every place that sets it')
    .option('-s, --set <NAME=VALUE...>', 'as if it were given to crawl')
    .option('--json', 'as JSON')
    .action(async (flags: SettingsFlags) => showSettings(flags, await configHere()))
  program
    .command('plan')
    .description('print what each dupefilter would take and give for so many URLs')
    .requiredOption('--urls <N>', 'how many different URLs the crawl will meet, e.g. 1e9')
    .option('--error <P>', 'the error to end with (default 1e-6)')
    .option('--bit <B>', 'BLOOMFILTER_BIT to compare with (default 30)')
    .option('--hash-number <K>', 'BLOOMFILTER_HASH_NUMBER to compare with (default 6)')
    .option('--blocks <N>', 'BLOOMFILTER_BLOCK_NUM to compare with')
    .option('--json', 'as JSON')
    .action((flags: PlanFlags) => plan(flags))
  program
    .command('version')
    .description('print the version')
    .option('-v, --verbose', 'with those of Node and the main libraries')
    .option('--json', 'as JSON')
    .action(showVersion)
  return program
}

async function configHere(): Promise<LoadedConfig | undefined> {
  const path = findConfig(process.cwd())
  return path === undefined ? undefined : loadConfig(path)
}

/** Prints what went wrong; answers the exit code. */
function failure(error: unknown): number {
  if (error instanceof CommanderError) {
    // commander has printed its message, or the help that was asked for.
    return error.exitCode === 0 ? EXIT.finished : EXIT.usage
  }
  if (error instanceof WebloomError) {
    const text = visibleLines(error.message)
    process.stderr.write(`webloom: ${text}${text.includes('\n') ? '\n' : ' '}[${error.code}]\n`)
  } else {
    process.stderr.write(
      `webloom: unexpected error: ${visibleLines(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`,
    )
  }
  return exitCodeOf(error)
}
