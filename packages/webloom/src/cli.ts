/**
 * The command line: a list of commands, each of which is in `cli/` with its options and help. Errors of all come out in
 * `main`, as one message and an exit code.
 */

import { type ProtocolTimes, WebloomError } from '@webloom/core'
import { Command, CommanderError } from 'commander'
import { budgets, clear, host, monitors, pause, resume, runs, scale, status, stop } from './cli/clusters.ts'
import type { CliCommand } from './cli/command.ts'
import { complete, completion } from './cli/completion.ts'
import { crawl, runspider, seed, worker } from './cli/crawling.ts'
import { dash } from './cli/dash.ts'
import { doctor } from './cli/doctor.ts'
import { dupefilter } from './cli/dupefilters.ts'
import { failed, quarantine } from './cli/failures.ts'
import { firstScreen, moreHelp } from './cli/first-screen.ts'
import { mcp } from './cli/mcp.ts'
import { check, fetch, genspider, parse, shell, view } from './cli/pages.ts'
import { bench, list, plan, settings, version } from './cli/project.ts'
import { schedule } from './cli/schedules.ts'
import { exportTo, importFrom } from './cli/transfers.ts'
import { refresh, visits } from './cli/visits.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { registerTypeScriptLoader } from './loading/typescript-loader.ts'
import { tellRefused } from './processes/worker-process.ts'
import { refusalOf } from './redis/redis-refusal.ts'
import { commandName, typedHints } from './terminal/resume-line.ts'
import { visibleLines } from './terminal/sanitize.ts'
import { VERSION } from './version.ts'

/**
 * Runs one command line to its end and ends the process with its exit code.
 *
 * @param times of the protocol, for tests that scale them; in all processes of a crawl the same
 */
export async function main(argv: readonly string[], times?: ProtocolTimes): Promise<void> {
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
  const outputFailure = watchedOutput()
  const program = commandLine((code) => {
    exitCode = code
  }, times)
  try {
    registerTypeScriptLoader()
    // A script whose command got lost must not go on as if all were well.
    if (argv.length > 2) await program.parseAsync(argv)
    else {
      process.stdout.write(firstScreen(program))
      exitCode = EXIT.usage
    }
  } catch (error) {
    exitCode = failure(error)
  }
  process.off('exit', unfinished)
  // A timer or socket that a spider left behind must not keep the process; what was printed must come out first.
  await new Promise((resolve) => process.stdout.write('', resolve))
  // What has failed already has said why.
  if (exitCode === EXIT.finished) exitCode = failureOf(outputFailure())
  process.exit(exitCode)
}

/** Without a listener a full disk behind standard output would end the process with a stack trace. Returns what has failed. */
function watchedOutput(): () => (Error & { code?: string }) | undefined {
  let failed: Error | undefined
  process.stdout.on('error', (error) => {
    failed ??= error
  })
  // There is nowhere left to tell it.
  process.stderr.on('error', () => {})
  return () => failed
}

/** The exit code. A reader that goes away (`| head`) has had what it wanted. */
function failureOf(error: (Error & { code?: string }) | undefined): number {
  if (!error || error.code === 'EPIPE') return EXIT.finished
  const message = `Writing to standard output failed: ${error.code === 'ENOSPC' ? 'the disk is full' : error.message}. What was written before stays.`
  return failure(new WebloomError('WL_OUTPUT_FAILED', message, { cause: error }))
}

/** In the order of the help. */
const COMMANDS: readonly { readonly title: string; readonly commands: readonly CliCommand[] }[] = [
  { title: 'Crawl:', commands: [crawl, runspider, worker, schedule, seed] },
  { title: 'Write a spider:', commands: [genspider, shell, fetch, view, parse, check, list] },
  {
    title: 'A crawl of many workers:',
    commands: [
      dash,
      mcp,
      status,
      scale,
      runs,
      monitors,
      budgets,
      pause,
      resume,
      stop,
      host,
      clear,
      failed,
      quarantine,
      dupefilter,
      visits,
      refresh,
      importFrom,
      exportTo,
    ],
  },
  {
    title: 'This folder and this machine:',
    commands: [doctor, settings, plan, bench, completion, complete, version],
  },
]

/** All commands and what they take; `exitsWith` gets what an action ended with. */
export function commandLine(exitsWith: (code: number) => void, times?: ProtocolTimes): Command {
  const name = commandName()
  const program = new Command(name)
    .description('Write a spider as a class, run it in one process or on many machines.')
    .version(VERSION, '-V, --version', 'print the version')
    .showHelpAfterError(`(${name} --help shows what there is)`)
    .showSuggestionAfterError()
    .addHelpText('after', moreHelp(name))
    .configureOutput({ outputError: (text, write) => write(withWayOut(text)) })
    .exitOverride()
  for (const { title, commands } of COMMANDS) {
    program.commandsGroup(title)
    for (const add of commands) add(program, { exitsWith, ...(times && { times }) })
  }
  // Under the last title.
  return program.helpCommand('help [command]', 'print the help of a command')
}

/** Who comes from Scrapy begins with a command that is another program here. */
function withWayOut(text: string): string {
  if (text.includes("unknown command 'startproject'"))
    return `${text}Write:  npm create webloom@latest my-crawler\n`
  return text
}

/** Prints what went wrong; returns the exit code. */
function failure(thrown: unknown): number {
  const error = refusalOf(thrown) ?? thrown
  if (error instanceof CommanderError) {
    // commander has printed its message, or the help that was asked for.
    return error.exitCode === 0 ? EXIT.finished : EXIT.usage
  }
  if (error instanceof WebloomError) {
    const text = visibleLines(typedHints(error.message))
    process.stderr.write(`webloom: ${text}${text.includes('\n') ? '\n' : ' '}[${error.code}]\n`)
    if (exitCodeOf(error) === EXIT.usage) tellRefused(text, error.code)
  } else {
    process.stderr.write(
      `webloom: unexpected error: ${visibleLines(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`,
    )
  }
  return exitCodeOf(error)
}
