/** `webloom doctor`: what is wrong with this machine, this folder and its Redis servers, and the line to type. */

import { resultsOf, withoutRepeats } from '../doctor/attempt.ts'
import { checkBrowser } from '../doctor/browser.ts'
import type { CheckResult, CheckResults } from '../doctor/check-result.ts'
import { checkFolders } from '../doctor/folders.ts'
import { checkCopies, checkNode, checkOpenFiles } from '../doctor/installation.ts'
import { checkLostCrawls } from '../doctor/lost-crawls.ts'
import { checkNames, checkPort, checkProxies } from '../doctor/network.ts'
import { checkManners, checkProject } from '../doctor/project.ts'
import { checkRedisServers } from '../doctor/redis-checkup.ts'
import { EXIT } from '../exit-codes.ts'
import { colorWanted, painter, type Style } from '../terminal/color.ts'
import { counted } from '../terminal/figures.ts'
import { typedHints } from '../terminal/resume-line.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

export interface DoctorFlags {
  readonly set?: readonly string[]
  readonly argument?: readonly string[]
  readonly json?: boolean
}

/**
 * Prints what each check has found; returns the exit code, 1 when one has failed.
 *
 * @param name a spider: its own settings count, too, and the rights of its keys
 */
export async function doctor(name: string | undefined, flags: DoctorFlags): Promise<number> {
  const results = await allResults(name, flags)
  const isWell = results.every(({ state }) => state !== 'fail')
  if (flags.json) console.log(visibleJson(JSON.stringify({ ok: isWell, checks: results })))
  else for (const line of doctorLines(results, colorWanted(process.stdout.isTTY))) console.log(line)
  return isWell ? EXIT.finished : EXIT.unexpected
}

async function allResults(name: string | undefined, flags: DoctorFlags): Promise<CheckResults> {
  const { settings, spider, results } = await checkProject(name, flags)
  const one = (check: string, look: () => CheckResult | Promise<CheckResult>) =>
    resultsOf(check, async () => [await look()])
  const looked = await Promise.all([
    one('Node', checkNode),
    one('webloom', () => checkCopies(process.cwd())),
    results,
    resultsOf('Redis', () => checkRedisServers(settings, spider)),
    resultsOf('crawl', () => checkLostCrawls(name, flags)),
    ...checkFolders(settings),
    one('open files', () => checkOpenFiles(settings.getInt('CONCURRENT_REQUESTS'))),
    one('ports', checkPort),
    one('names', () => checkNames(settings)),
    one('proxies', () => checkProxies(settings)),
    resultsOf('robots.txt', () => checkManners(settings)),
    one('browser', () => checkBrowser(settings)),
  ])
  return withoutRepeats(looked.flat())
}

const SHOWN: Readonly<Record<CheckResult['state'], { readonly word: string; readonly style: Style }>> = {
  ok: { word: 'ok', style: 'green' },
  info: { word: 'note', style: 'dim' },
  warn: { word: 'WARN', style: 'yellow' },
  fail: { word: 'FAIL', style: 'red' },
}

/** The text form, line by line. */
export function doctorLines(results: CheckResults, color: boolean): string[] {
  const paint = painter(color)
  const width = Math.max(...results.map(({ check }) => check.length))
  const lines = results.flatMap(({ check, state, found, type }) => {
    const { word, style } = SHOWN[state]
    const head = `${paint(style, word.padEnd(4))}  ${check.padEnd(width)}  `
    // What a message tells in several lines stays below its check.
    const [first = '', ...more] = typedHints(found).split('\n').map(visible)
    const below = ' '.repeat(width + 8)
    return [
      `${head}${first}`,
      ...more.map((line) => below + line),
      ...(type === undefined ? [] : [`${below}${paint('cyan', visible(typedHints(type)))}`]),
    ]
  })
  return [...lines, '', summary(results)]
}

function summary(results: CheckResults): string {
  const count = (state: CheckResult['state']) => results.filter((one) => one.state === state).length
  const [failed, warned] = [count('fail'), count('warn')]
  if (failed + warned === 0) return 'Nothing is wrong.'
  const warnings = warned > 0 ? counted(warned, 'warning') : ''
  const failures = failed > 0 ? `${counted(failed, 'thing')} must be fixed` : ''
  return `${[failures, warnings].filter((text) => text !== '').join(', ')}; below each stands the line to type.`
}
