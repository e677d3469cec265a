/**
 * The command line. Each command is a few lines here and a file in `commands/`, loaded when it is called for, as reading
 * all of them takes longer than most commands; errors of all come out in `main`, as one message and an exit code.
 */

import { WebloomError } from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import { Command, CommanderError } from 'commander'
import type { BenchFlags } from './commands/bench.ts'
import type { CheckFlags } from './commands/check.ts'
import { type CrawlFlags, repeatable, spiderArguments, withCrawlOptions } from './commands/crawl-options.ts'
import type { DupeFilterFlags } from './commands/dupefilter.ts'
import type { ExportFlags } from './commands/export.ts'
import type { FetchFlags } from './commands/fetch.ts'
import type { GenspiderFlags } from './commands/genspider.ts'
import type { ImportFlags } from './commands/import.ts'
import { withPageOptions } from './commands/page-options.ts'
import type { ParseFlags } from './commands/parse.ts'
import type { PlanFlags } from './commands/plan.ts'
import type { SeedFlags } from './commands/seed.ts'
import type { SettingsFlags } from './commands/settings.ts'
import type { ShellFlags } from './commands/shell.ts'
import type { ViewFlags } from './commands/view.ts'
import type { WorkerFlags } from './commands/worker.ts'
import type { OutsideFlags } from './crawl-from-outside.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { findConfig, type LoadedConfig, loadConfig, projectConfig } from './loading/config.ts'
import { namedSpider } from './loading/named-spider.ts'
import { loadSpiderFile } from './loading/spider-loader.ts'
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
  const outputFailure = watchedOutput()
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
  // What has failed already has said why.
  if (exitCode === EXIT.finished) exitCode = failureOf(outputFailure())
  process.exit(exitCode)
}

/** Without a listener a full disk behind standard output would end the process with a stack trace. Answers what has failed. */
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

/** All commands and what they take; `setExitCode` gets what an action ended with. */
export function commandLine(setExitCode: (code: number) => void): Command {
  const program = new Command('webloom')
    .description('Write a spider as a class, run it in one process or on many machines.')
    .version(VERSION, '-V, --version', 'print the version')
    .showHelpAfterError('(webloom --help shows what there is)')
    .showSuggestionAfterError()
    .exitOverride()

  withCrawlOptions(
    program
      .command('crawl <spider>')
      .description('run a spider of this project by its name, or one by its file'),
  ).action(async (name: string, flags: CrawlFlags) => {
    const { Class, config } = await namedSpider(name, spiderArguments(flags))
    const { runCrawl } = await import('./commands/run-crawl.ts')
    setExitCode(await runCrawl(Class, flags, config))
  })
  withCrawlOptions(
    program
      .command('worker <spider>')
      .description('take part in the crawl of a spider that several processes or machines share (REDIS_URL)')
      .option('--processes <N>', 'run that many processes, and replace those that die')
      .option('--stay', 'wait for more when there is nothing left to do')
      .option(
        '--new',
        'begin a new crawl where the last one is finished; what SCHEDULER_PERSIST kept as met is not fetched again',
      ),
  ).action(async (name: string, flags: WorkerFlags) => {
    const { Class, config } = await namedSpider(name, spiderArguments(flags))
    const { worker } = await import('./commands/worker.ts')
    setExitCode(await worker(Class, flags, config))
  })
  program
    .command('seed <spider> [messages...]')
    .description(
      'put start URLs where a RedisSpider takes them: URLs or JSON, a file of them, or - for stdin',
    )
    .option('--file <F>', 'a file with one message a line')
    .option('--front', 'before what waits (in a list; each 1,000 messages stay in their order)')
    .option('--score <N>', 'in a sorted set; else that is each message’s priority, or 0')
    .addOption(repeatable('-s, --set <NAME=VALUE>', 'a setting; overrides every other place'))
    .addOption(repeatable('-a, --argument <name=value>', 'an argument of the spider'))
    .option('--json', 'the summary as JSON')
    .action(async (name: string, messages: string[], flags: SeedFlags) => {
      const { Class, config } = await namedSpider(name, spiderArguments(flags))
      const { seed } = await import('./commands/seed.ts')
      setExitCode(await seed(Class, messages, flags, config))
    })
  withCrawlOptions(
    program.command('runspider <file>').description('run the spider in a file, without a project'),
  ).action(async (file: string, flags: CrawlFlags) => {
    const Class = await loadSpiderFile(file)
    const { runCrawl } = await import('./commands/run-crawl.ts')
    setExitCode(await runCrawl(Class, flags, await configHere()))
  })
  program
    .command('list')
    .description('print the names of this project’s spiders')
    .option('--json', 'as JSON, with their files')
    .action(async (flags: { json?: boolean }) => {
      const { list } = await import('./commands/list.ts')
      await list(await projectConfig(process.cwd()), flags)
    })
  program
    .command('settings')
    .description('print settings as they stand in this folder')
    .option('--get <NAME>', 'the value of one')
    .option('--explain <NAME>', 'the value of one, and every place that sets it')
    .option('-s, --set <NAME=VALUE...>', 'as if it were given to crawl')
    .option('--json', 'as JSON')
    .action(async (flags: SettingsFlags) => {
      const { showSettings } = await import('./commands/settings.ts')
      await showSettings(flags, await configHere())
    })
  program
    .command('plan')
    .description('print what each dupefilter would take and give for so many URLs')
    .requiredOption('--urls <N>', 'how many different URLs the crawl will meet, e.g. 1e9')
    .option('--error <P>', 'the error to end with (default 1e-6)')
    .option('--bit <B>', 'BLOOMFILTER_BIT to compare with (default 30)')
    .option('--hash-number <K>', 'BLOOMFILTER_HASH_NUMBER to compare with (default 6)')
    .option('--blocks <N>', 'BLOOMFILTER_BLOCK_NUM to compare with')
    .option('--hosts <N>', 'over how many hosts they are spread (default: a thousand URLs each)')
    .option('--json', 'as JSON')
    .action(async (flags: PlanFlags) => (await import('./commands/plan.ts')).plan(flags))
  program
    .command('bench')
    .description('measure how fast pages are crawled here; with REDIS_URL, on Redis too')
    .option('--pages <N>', 'pages of the site that is crawled', '5000')
    .option('--rounds <N>', 'how often each is measured; the one in the middle is shown', '3')
    .option('--json', 'as JSON')
    .action(async (flags: BenchFlags) => (await import('./commands/bench.ts')).bench(flags))
  withAuthorCommands(program, setExitCode)
  withClusterCommands(program)
  withDupefilterCommands(program)
  withTransferCommands(program, setExitCode)
  program
    .command('version')
    .description('print the version')
    .option('-v, --verbose', 'with those of Node and the main libraries')
    .option('--json', 'as JSON')
    .action(async (flags: { verbose?: boolean; json?: boolean }) =>
      (await import('./commands/version.ts')).showVersion(flags),
    )
  return program
}

function withAuthorCommands(program: Command, setExitCode: (code: number) => void): void {
  withPageOptions(
    program
      .command('shell [url]')
      .description('try selectors on a page, or on a local file')
      .option('-c, --code <code>', 'run this and print its answer, instead of asking for lines'),
  ).action(async (url: string | undefined, flags: ShellFlags) => {
    const { shell } = await import('./commands/shell.ts')
    await shell(url, flags, await configHere())
  })
  withPageOptions(
    program
      .command('fetch <url>')
      .description('print a page as the crawl would get it')
      .option('--headers', 'print what was sent and answered instead of the page'),
  ).action(async (url: string, flags: FetchFlags) => {
    const { fetchPage } = await import('./commands/fetch.ts')
    await fetchPage(url, flags, await configHere())
  })
  withPageOptions(
    program
      .command('view <url>')
      .description('open a page in the browser as the crawl gets it')
      .option('--no-open', 'only print where the page was saved'),
  ).action(async (url: string, flags: ViewFlags) => {
    const { view } = await import('./commands/view.ts')
    await view(url, flags, await configHere())
  })
  withPageOptions(
    program
      .command('parse <url>')
      .description('run a callback on a page and print what it yields')
      .option('-c, --callback <name>', 'the callback (default parse)')
      .option('-m, --meta <json>', 'meta of the request')
      .option('--cbkwargs <json>', 'cbKwargs of the request')
      .option('-d, --depth <N>', 'follow requests so many levels deep', '1')
      .option('--pipelines', 'send items through the pipelines')
      .option('--no-items', 'leave items out')
      .option('--no-links', 'leave requests out')
      .option('-v, --verbose', 'print each level by itself')
      .option('--json', 'as JSON'),
  ).action(async (url: string, flags: ParseFlags) => {
    const { parse } = await import('./commands/parse.ts')
    await parse(url, flags, await configHere())
  })
  program
    .command('genspider [name] [site]')
    .description('write a spider to start from')
    .option('-t, --template <name>', 'basic, crawl, redis, sitemap, xmlfeed or csvfeed', 'basic')
    .option('-l, --list', 'print the templates')
    .option('-d, --dump <name>', 'print a template')
    .option('--force', 'write over a file that is there')
    .action(async (name: string | undefined, site: string | undefined, flags: GenspiderFlags) => {
      const { genspider } = await import('./commands/genspider.ts')
      genspider(name, site, flags, await configHere())
    })
  withPageOptions(
    program
      .command('check [spider]')
      .description('check what callbacks make of the pages of their contracts')
      .option('-l, --list', 'print the contracts')
      .option('--json', 'as JSON'),
  ).action(async (name: string | undefined, flags: CheckFlags) => {
    const { check } = await import('./commands/check.ts')
    setExitCode(await check(name, flags, await configHere()))
  })
}

function withClusterCommands(program: Command): void {
  const outside = (parent: Command, form: string, description: string) =>
    parent
      .command(form)
      .description(description)
      .addOption(repeatable('-s, --set <NAME=VALUE>', 'a setting; overrides every other place'))
      .addOption(repeatable('-a, --argument <name=value>', 'an argument of the spider'))
  const place = (name: string, flags: OutsideFlags) => namedSpider(name, spiderArguments(flags))
  type Act<Flags> = (Class: SpiderClass, flags: Flags, config: LoadedConfig) => Promise<void>
  const of =
    <Flags extends OutsideFlags>(load: () => Promise<Act<Flags>>) =>
    async (name: string, flags: Flags) => {
      const [act, { Class, config }] = [await load(), await place(name, flags)]
      await act(Class, flags, config)
    }
  const control = () => import('./commands/crawl-control.ts')
  outside(program, 'status <spider>', 'print what the crawl of a spider is doing, on all machines')
    .option('--json', 'as JSON')
    .action(of(async () => (await import('./commands/status.ts')).status))
  outside(program, 'pause <spider>', 'let all workers of a crawl begin nothing new').action(
    of(async () => (await control()).pause),
  )
  outside(program, 'resume <spider>', 'let a paused crawl go on').action(
    of(async () => (await control()).resume),
  )
  outside(program, 'stop <spider>', 'end a crawl for all its workers')
    .option('--reason <text>', 'the finish_reason (default stopped)')
    .action(of(async () => (await control()).stop))
  outside(program, 'clear <spider>', 'delete queue, requests met, record and stats of a crawl')
    .option('--force', 'even while workers are present')
    .action(of(async () => (await control()).clear))
  const quarantine = program
    .command('quarantine')
    .description('requests that were set aside, as they killed their workers or nobody could do them')
  outside(quarantine, 'list <spider>', 'print them with their history')
    .option('--json', 'as JSON')
    .action(of(async () => (await import('./commands/quarantine.ts')).quarantineList))
  outside(quarantine, 'retry <spider> [ids...]', 'queue them again')
    .option('--all', 'every one')
    .option('--json', 'as JSON')
    .action(async (name: string, ids: string[], flags: OutsideFlags & { all?: boolean }) => {
      const { quarantineRetry } = await import('./commands/quarantine.ts')
      const { Class, config } = await place(name, flags)
      await quarantineRetry(Class, ids, flags, config)
    })
}

function withTransferCommands(program: Command, setExitCode: (code: number) => void): void {
  const options = (command: Command) =>
    command
      .addOption(repeatable('-s, --set <NAME=VALUE>', 'a setting; overrides every other place'))
      .addOption(repeatable('-a, --argument <name=value>', 'an argument of the spider'))
      .option('--json', 'the summary as JSON')
  const importing = (form: string, description: string) =>
    options(program.command(form).description(description))
      .addOption(repeatable('--callback <there=here>', 'what a method of theirs is called here'))
      .option('--no-start', 'start() does not run when the crawl goes on')
      .option('--dry-run', 'look at everything and move nothing')
  importing(
    'import <from> <spider>',
    'take over what waits: of a Python crawl (import scrapy-redis quotes), or of a file that webloom export wrote (- for stdin)',
  ).action(async (from: string, name: string, flags: ImportFlags) => {
    const { importLines, importScrapyRedis } = await import('./commands/import.ts')
    const { Class, config } = await namedSpider(name, spiderArguments(flags))
    setExitCode(
      from === 'scrapy-redis'
        ? await importScrapyRedis(Class, flags, config)
        : await importLines(Class, from, flags, config),
    )
  })
  options(
    program
      .command('export <spider>')
      .description('write what a crawl that does not move still has to fetch, a JSON line each'),
  )
    .option('--seeds', 'as start URLs that scrapy-redis and webloom seed take')
    .option('--to <where>', 'scrapy-redis: into the queue of a Python crawl')
    .addOption(repeatable('--callback <here=there>', 'what a method is called there'))
    .option('-o, --output <file>', 'write there instead of to stdout')
    .action(async (name: string, flags: ExportFlags) => {
      const { exportCrawl } = await import('./commands/export.ts')
      const { Class, config } = await namedSpider(name, spiderArguments({ argument: flags.argument ?? [] }))
      setExitCode(await exportCrawl(Class, flags, config))
    })
}

function withDupefilterCommands(program: Command): void {
  const parent = program.command('dupefilter').description('look into the filter of a spider’s crawl')
  const sub = (form: string, description: string) =>
    parent
      .command(form)
      .description(description)
      .addOption(repeatable('-s, --set <NAME=VALUE>', 'a setting; overrides every other place'))
      .addOption(repeatable('-a, --argument <name=value>', 'an argument of the spider'))
      .option('--json', 'as JSON')
  const place = (name: string, flags: DupeFilterFlags) => namedSpider(name, spiderArguments(flags))
  type WithUrls = [name: string, urls: string[], flags: DupeFilterFlags]
  const filter = () => import('./commands/dupefilter.ts')
  sub('has <spider> <urls...>', 'print for each URL whether it was met (- reads them from stdin)').action(
    async (...[name, urls, flags]: WithUrls) =>
      (await filter()).dupefilterHas(await place(name, flags), urls, flags),
  )
  sub('add <spider> <urls...>', 'record URLs as met: the crawl passes them over').action(
    async (...[name, urls, flags]: WithUrls) =>
      (await filter()).dupefilterAdd(await place(name, flags), urls, flags),
  )
  sub('rm <spider> <urls...>', 'make URLs new again').action(async (...[name, urls, flags]: WithUrls) =>
    (await filter()).dupefilterRemove(await place(name, flags), urls, flags),
  )
  sub('stats <spider>', 'print how much is recorded, and how well it fits').action(
    async (name: string, flags: DupeFilterFlags) =>
      (await filter()).dupefilterStats(await place(name, flags), flags),
  )
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
