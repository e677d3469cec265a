/**
 * What a run of the tests came to, for the last lines of `.ci/run`: each test that was tried again or failed with its file, its name and
 * what its error says, without the stack. Then how many passed and how many failed.
 *
 *     node scripts/failed-tests.ts <report of vitest's reporter `json`>
 */

import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

interface Report {
  readonly numPassedTests?: number
  readonly testResults?: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName: string
      readonly failureMessages: readonly string[] | null
    }[]
  }[]
}

/** So that the end of a log shows all of them. */
const ERROR_CHARS_MAX = 2000
const STACK_LINES = /^ +at .*\n?/gm
const saidBy = (error: string) =>
  error.replace(STACK_LINES, '').trim().slice(0, ERROR_CHARS_MAX).replaceAll('\n', '\n  ')

function linesOf({ testResults = [] }: Report): string[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(process.cwd(), name)
    const tests = assertionResults.flatMap(({ status, fullName, failureMessages }) => {
      const why = failureMessages?.[0]
      // What has passed and has failure messages had failed at first.
      const word = status === 'failed' ? 'FAILED' : status === 'passed' && why ? 'RETRIED' : undefined
      return word ? [`${word}: ${file}: ${fullName}\n  ${saidBy(why ?? '')}`] : []
    })
    const hasFailed = assertionResults.some(({ status }) => status === 'failed')
    return status === 'failed' && !hasFailed ? [...tests, `FAILED: ${file}\n  ${saidBy(message)}`] : tests
  })
}

const path = process.argv[2]!
const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
const report: Report = text ? JSON.parse(text) : {}
const retriedFirst = (a: string, b: string) => b.localeCompare(a)
const lines = linesOf(report).sort(retriedFirst)
for (const line of lines) console.error(line)
// A file that could not be read has no tests; groups in which one failed are no more failures.
console.log(report.numPassedTests ?? 0, lines.filter((line) => line.startsWith('FAILED')).length)
