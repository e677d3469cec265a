/** What the sources and the pages about them promise of their form; each check has a small broken fixture. */

import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { incompleteExportProblems } from './checks/complete-exports.ts'
import { coreForOneProblems } from './checks/core-for-one.ts'
import { docstringVerbProblems } from './checks/docstring-verbs.ts'
import { exportGroupProblems, unnamedExportProblems } from './checks/exports.ts'
import { fileLengthProblems, mapLengthProblems } from './checks/file-lengths.ts'
import { codeMapProblems, folderProblems, strayCommandProblems, untoldTestFolders } from './checks/folders.ts'
import { fromCrawlerProblems } from './checks/from-crawler.ts'
import { literalSleepProblems } from './checks/literal-sleeps.ts'
import { luaHeaderProblems } from './checks/lua/lua-headers.ts'
import { luaRefusalProblems } from './checks/lua/lua-refusals.ts'
import { movedExportProblems } from './checks/moved-exports.ts'
import { openerProblems, unusedPermissions } from './checks/openers.ts'
import { settingUseProblems } from './checks/settings-used.ts'
import { soakProblems } from './checks/soaks-beside.ts'
import { sourceFiles, unseenFiles } from './files/source-files.ts'
import { documentProblems } from './pages/documents.ts'

const ROOT = join(import.meta.dirname, '../..')
const fixture = (name: string) => join(import.meta.dirname, 'fixtures', name)

/** Folders of peers, which may hold many: CONTRIBUTING.md says that one more is one file. */
const PEERS = ['packages/downloader/src/middlewares', 'packages/webloom/src/commands']

/** One list, written by scripts/settings-docs.ts, and what core exports, in groups. */
const LONG_FILES = ['packages/core/src/settings/settings-input.ts', 'packages/core/src/index.ts']

/** Functions and methods whose docstrings still begin without a verb. This list only shrinks. */
const NO_VERB = [
  'lingers',
  'lockArgs',
  'queueOptionsOf',
  'BudgetsMiddleware.processException',
  'Guard.onEnd',
  'HeldTurn.woken',
  'HostSlots.prepare',
  'KnownLinks.from',
  'LeftToOthers.waitMs',
  'NeighbourIndex.farthest',
  'Neighbours.at',
  'RedisLink.useFor',
  'Response.firstLinks',
  'ShardedFailures.retry',
  'UrlMemory.requestsFrom',
  'ValidatorTrust.learn',
]

describe('this repository', () => {
  test.each([
    ['no folder holds more files than a reader can take in', (root: string) => folderProblems(root, PEERS)],
    ['commands/ has only what a command line loads', strayCommandProblems],
    ['no file is longer than 400 lines', (root: string) => fileLengthProblems(root, LONG_FILES)],
    ['ARCHITECTURE.md is no longer than a sitting', (root: string) => mapLengthProblems(root)],
    ['ARCHITECTURE.md says of each folder what is in it, and of no other', codeMapProblems],
    ['tests/README.md says of each folder what is in it', untoldTestFolders],
    ['what core has for one package has a reason to be there', coreForOneProblems],
    ['no default export, no export *', unnamedExportProblems],
    ['groups of exports survive sorting', exportGroupProblems],
    [
      'webloom or webloom/ports exports each type that their exports and those of webloom/testing mention',
      (root: string) => incompleteExportProblems(root, ['index', 'ports', 'testing']),
    ],
    ['what moved out of webloom says where to', movedExportProblems],
    ['who opens connections, and who names classes behind ports', openerProblems],
    ['who may open or name something does so', unusedPermissions],
    ['fromCrawler makes the class that a setting names, not the one that it extends', fromCrawlerProblems],
    [
      'the docstring of an exported function, or of a method with parameters, begins with a verb',
      (root: string) => docstringVerbProblems(root, NO_VERB),
    ],
    ['a test that sleeps says why nothing can be awaited, in a comment of one form', literalSleepProblems],
    ['cases that a test leaves to the soaks are tried by one, which imports it', soakProblems],
    ['headers of Lua files tell what the files read and what their callers send', luaHeaderProblems],
    ['a Lua script refuses by a code of its own, not by words of Redis', luaRefusalProblems],
    ['each used setting is read, no unused one is, and reasons lead to what is there', settingUseProblems],
    ['files, settings, commands and names of code that a page speaks of are there', documentProblems],
  ])('%s', (_, check) => {
    expect(check(ROOT)).toEqual([])
    expect(unseenFiles(ROOT)).toEqual([])
  })
})

describe('each check can fail', () => {
  test('on files that it looks for where none are', () => {
    const moved = 'packages/core/src/settings/settings-table/unused-*.ts'
    expect(sourceFiles(fixture('settings-used'), moved)).toEqual([])
    expect(unseenFiles(fixture('settings-used'))).toEqual([
      `a check looks for ${moved}, and there is no such file`,
    ])
  })
  test('on a folder of too many files, and on one that counts as large and is not', () => {
    const turns = 'packages/queue/src/turns'
    const leasing = 'packages/queue/src/leasing'
    const tests = 'tests/crawls'
    expect(folderProblems(fixture('folders'))).toEqual([
      `${turns} has 17 files, and 16 are the most: which second noun is in it?`,
      `${tests} has 17 files, and 16 are the most: which second noun is in it?`,
    ])
    expect(folderProblems(fixture('folders'), [turns, tests])).toEqual([])
    expect(folderProblems(fixture('folders'), [turns, tests, leasing])).toEqual([
      `${leasing} has 1 files: it need not be named in the test`,
    ])
  })
  test('on a file that is too long, and on one that counts as long and is not', () => {
    const long = 'packages/queue/src/queue.test.ts'
    expect(fileLengthProblems(fixture('long-files'), [], 4)).toEqual([
      `${long} has 5 lines, and 4 are the most: split it by its nouns`,
    ])
    expect(fileLengthProblems(fixture('long-files'), [long], 4)).toEqual([])
    expect(fileLengthProblems(fixture('long-files'), [long], 5)).toEqual([
      `${long} is no longer than others: it need not be named in the test`,
    ])
  })
  test('on a file among the commands that is none', () => {
    expect(strayCommandProblems(fixture('stray-commands'))).toEqual([
      'packages/webloom/src/commands/shared-lines.ts is no command: cli/ does not load it',
    ])
  })
  test('on a map that has grown', () => {
    expect(mapLengthProblems(fixture('folders'), 3)).toEqual([
      expect.stringMatching(/^ARCHITECTURE\.md has \d+ words, and 3 are the most: /),
    ])
  })
  test('on a folder that the code map leaves out, and one that only it knows', () => {
    expect(codeMapProblems(fixture('folders'))).toEqual([
      'ARCHITECTURE.md does not say what is in packages/queue/src/leasing/',
      'ARCHITECTURE.md speaks of gone/ in packages/queue/, which is not there',
    ])
  })
  test('on a folder of tests that their page leaves out', () => {
    expect(untoldTestFolders(fixture('folders'))).toEqual(['tests/README.md does not say what is in seeds/'])
  })
  test('on a file of core that one package uses or none, and a reason that is out of date', () => {
    const page = 'docs/decisions/folders.md'
    expect(coreForOneProblems(fixture('core-for-one'))).toEqual([
      `core has runs/figures.ts for queue alone: move it there, or tell why not in ${page}`,
      `core has python/read-pickle.ts for nobody alone: move it there, or tell why not in ${page}`,
      `${page} tells why core has runs/wide.ts for one package, which is not so`,
    ])
  })
  test('on an export that has no name of its own', () => {
    expect(unnamedExportProblems(fixture('exports'))).toEqual([
      'packages/core/src/index.ts has an export *',
      'packages/core/src/request.tsx has an export default',
    ])
  })
  test('on a type that an export mentions and no entry exports', () => {
    expect(incompleteExportProblems(fixture('complete-exports'), ['index', 'ports'], 'built')).toEqual([
      'Spider of webloom mentions Target (packages/webloom/built/spider.ts), which no entry exports',
      'Lease of webloom/ports mentions Inner (packages/core/built/queue.ts), which no entry exports',
      'Queue of webloom/ports mentions Clock (packages/core/built/clock.ts), which no entry exports',
    ])
  })
  test('on an export that moved and does not say so, one that is not where its tag says, and one that no changelog tells of', () => {
    expect(movedExportProblems(fixture('moved-exports'))).toEqual([
      'Silent of webloom has moved and has no tag @deprecated with its new import line',
      'the tag of Lost imports Lost from @webloom/queue, which does not export Lost',
      'CHANGELOG.md does not tell that Untold moved from webloom to webloom/ports',
      'CHANGELOG.md tells that Gone moved from webloom, which does not export it',
    ])
  })
  test('on a group whose comment would wander', () => {
    expect(exportGroupProblems(fixture('exports'))).toEqual([
      'packages/core/src/index.ts: the group “Errors” needs an empty line behind its comment',
    ])
  })
  test('on a connection that is opened, and a class that is named, where neither may be', () => {
    const problems = openerProblems(fixture('openers'))
    const [filter, , ...crawl] = problems.filter(
      (one) => !/ways-around|given-classes|packages\/spider/.test(one),
    )
    expect(filter).toMatch(
      /^packages\/dupefilter\/src\/redis-filter\.ts imports ioredis: only webloom\/src\/redis\/, /,
    )
    expect(crawl.map((problem) => problem.replace(/: only .*/, ''))).toEqual([
      'packages/webloom/src/authoring/crawl.ts names BullJobQueue of @webloom/queue',
      'packages/webloom/src/authoring/crawl.ts makes RedisServers',
      'packages/webloom/src/commands/seed.ts names BullJobQueue of @webloom/queue',
    ])
  })
  test('on what is handed on, part of a package, a socket, and a global that connects', () => {
    const problems = openerProblems(fixture('openers')).filter((one) =>
      /ways-around|packages\/spider/.test(one),
    )
    expect(problems.map((problem) => problem.replace(/: only .*/, '')).sort()).toEqual([
      'packages/queue/src/ways-around.ts imports bullmq/dist/esm/index.js',
      'packages/queue/src/ways-around.ts imports ioredis',
      'packages/queue/src/ways-around.ts imports node:net',
      'packages/queue/src/ways-around.ts names * as queue of @webloom/queue',
      'packages/spider/src/pages.ts calls fetch',
      'packages/spider/src/pages.ts calls new WebSocket',
    ])
  })
  test('on a client of Redis made from a class that was handed on', () => {
    const made = openerProblems(fixture('openers')).filter((one) => one.includes('given-classes'))
    expect(made.map((problem) => problem.replace(/: only .*/, ''))).toEqual([
      'packages/queue/src/given-classes.ts makes Redis',
      'packages/queue/src/given-classes.ts makes Cluster',
    ])
  })
  test('on a permission that nothing uses', () => {
    const unused = unusedPermissions(fixture('openers'))
    expect(unused).toContain(
      'queue/src/locks/lock-keeper-thread.ts may import ioredis and does not: take the permission away',
    )
    expect(unused).not.toContain(
      'webloom/src/commands/seed.ts may name RedisSeedPush and does not: take the permission away',
    )
  })
  test('on a fromCrawler that a class which extends its class would not be made by', () => {
    expect(fromCrawlerProblems(fixture('from-crawler'))).toEqual([
      'packages/dupefilter/src/filters.ts: fromCrawler of ShutFilter makes new ShutFilter(…) instead of new this(…)',
    ])
  })
  test('on a docstring of a function or method that begins without a verb', () => {
    const path = 'packages/queue/src/lines.ts'
    expect(docstringVerbProblems(fixture('docstring-verbs'), ['written', 'lengthOf'])).toEqual([
      `the docstring of isEmpty (${path}) begins with “Whether”, not a verb`,
      `the docstring of Lines.waiting (${path}) begins with “Those”, not a verb`,
      'the docstring of lengthOf begins with a verb: it need not be named in the test',
    ])
  })
  test('on a sleep that does not say why', () => {
    const path = 'packages/queue/src/waits.test.ts'
    const says = 'sleeps without a comment "// Waits: …" that says why:'
    expect(literalSleepProblems(fixture('literal-sleeps'))).toEqual([
      `${path}:8 ${says} await sleep(50)`,
      `${path}:10 ${says} await new Promise((resolve) => setTimeout(resolve, 10))`,
      `${path}:11 ${says} await sleep(STALE_MS + 50)`,
      `${path}:12 ${says} await sleep(ms)`,
      `${path}:13 ${says} await wait(STALE_MS)`,
    ])
  })
  test('on a test whose other cases no soak tries', () => {
    expect(soakProblems(fixture('soaks'))).toEqual([
      'packages/queue/src/turns/left.test.ts leaves cases to the soaks, and no *.soak.test.ts imports it',
    ])
  })
  test('on a header that does not tell what is read, or tells what is not, and on a call that sends less', () => {
    expect(luaHeaderProblems(fixture('lua-headers'))).toEqual([
      'packages/queue/lua/turns/gone.lua is named and is not there',
      'packages/queue/lua/turns/left.lua is part of no script',
      'packages/queue/lua/turns/left.lua tells no Input',
      'packages/queue/lua/turns/left.lua tells no Output',
      'turns/take.lua reads no KEYS[2], which a header of takeScript tells',
      'packages/queue/src/scripts.ts sends 1 KEYS to takeScript, whose headers tell of 2',
      'turns/take.lua reads ARGV[2], which no header of takeScript tells',
      'turns/take.lua reads no ARGV[1], which a header of takeScript tells',
      'packages/queue/src/turn-scripts.ts sends 3 ARGV to sweepScript, whose headers tell of 4',
      'packages/queue/src/turn-scripts.ts sends 2 ARGV to countScript, whose headers tell of 1',
    ])
  })
  test('on a script that answers with an error of Redis, or with a code and no detail', () => {
    const path = 'packages/queue/lua/turns/take.lua'
    expect(luaRefusalProblems(fixture('lua-refusals'))).toEqual([
      `${path} answers err = 'OOM command not allowed: the lane is full' }: not by WEBLOOM_<CODE> <detail>`,
      `${path} answers error_reply('WEBLOOM_FULL'): not by WEBLOOM_<CODE> <detail>`,
      `${path} answers error_reply('WRONGTYPE this is a ' .. ARGV[2]): not by WEBLOOM_<CODE> <detail>`,
    ])
  })
  test('on a used setting that nothing reads or that is only listed, an unused one that something does, and a reason that leads nowhere', () => {
    const reason = 'the reason “DOWNLOAD_PAUSE and `webloom rest` do it.” leads to'
    expect(settingUseProblems(fixture('settings-used'))).toEqual([
      'setting SCHEDULER_DEBUG counts as used, and nothing reads it',
      'setting LOG_LEVEL counts as used, and nothing reads it',
      'setting DOWNLOAD_SLOTS counts as unused, and packages/downloader/src/pace.ts reads it',
      `${reason} DOWNLOAD_PAUSE, which is not a setting that is used`,
      `${reason} webloom rest, which is not a command`,
    ])
  })
  test('on a file, command, option, setting, error code or name of code that only a page knows', () => {
    expect(documentProblems(fixture('documents'))).toEqual([
      'README.md names the file engines.ts, which is not there',
      'README.md names the file motor.ts, which is not there',
      'README.md names the command crwal, which is not there',
      'README.md names the command crawll, which is not there',
      'README.md names the option --dryrun, which is not there',
      'README.md names the option --quick, which is not there',
      'README.md names the setting DOWNLOAD_DELEY, which is not there',
      'README.md names the error code WL_SLOWER, which is not there',
      'docs/parts.md names the setting PAGES_MAX, which is not there',
      'docs/parts.md names the code FastEngine, which is not there',
      'docs/parts.md names the code speedUp, which is not there',
    ])
  })
})
