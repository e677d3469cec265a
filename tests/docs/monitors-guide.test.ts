/** docs/guides/monitors.md has a line for each monitor, and that of one's own which it shows gives no false alarm. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MONITOR_NAMES } from '../../packages/core/src/metrics/monitor-names.ts'
import { SETTINGS_TABLE } from '../../packages/core/src/settings/settings-table.ts'

const readGuide = () => readFile(join(import.meta.dirname, '../../docs/guides/monitors.md'), 'utf8')

interface Run {
  readonly state: string
  readonly pages: number
  readonly bytes: number
}

test('it compares the size of a page with that of a run which fetched enough', async () => {
  const guide = await readGuide()
  const [method] = /custom\(run, past\) \{[\s\S]*?\n {4}\}/.exec(guide) ?? []
  const { custom } = new Function(`return { ${method} }`)() as {
    custom(run: Run, past: readonly Run[]): string | undefined
  }
  const finished = (pages: number, bytes: number): Run => ({ state: 'finished', pages, bytes })
  const usual = finished(200, 2e6)
  expect(custom(finished(200, 8e6), [usual])).toContain('three times')
  expect(custom(finished(2000, 2e7), [usual])).toBeUndefined()
  expect(custom(finished(0, 0), [usual])).toBeUndefined()
  const others = [
    finished(0, 0),
    finished(1, 10),
    finished(200, 0),
    { ...usual, state: 'stopped', bytes: 10 },
  ]
  expect(custom(usual, others)).toBeUndefined()
  expect(custom(usual, [])).toBeUndefined()
})

/** The monitors of spidermon 1.x, in the order of its docs: thirteen that judge a run at its end, and two that look while it runs. */
const OF_SPIDERMON = [
  'CriticalCountMonitor',
  'DownloaderExceptionMonitor',
  'ErrorCountMonitor',
  'FieldCoverageMonitor',
  'FinishReasonMonitor',
  'ItemCountMonitor',
  'ItemValidationMonitor',
  'RetryCountMonitor',
  'SuccessfulRequestsMonitor',
  'TotalRequestsMonitor',
  'UnwantedHTTPCodesMonitor',
  'WarningCountMonitor',
  'ZyteJobsComparisonMonitor',
  'PeriodicExecutionTimeMonitor',
  'PeriodicItemCountMonitor',
]

test('each monitor, each one of spidermon and each of its settings has its line', async () => {
  const guide = await readGuide()
  const cells = guide.split('\n').filter((line) => line.startsWith('| '))
  const [own, spidermon] = [cells.filter((line) => !/\w+Monitor\b/.test(line)), cells].map((lines) =>
    lines.join('\n'),
  )
  for (const name of MONITOR_NAMES)
    expect(own).toMatch(new RegExp(`^\\|.*\`${name}[.\`(].*\\|.*\\|.*\\|$`, 'm'))
  for (const name of OF_SPIDERMON) expect(spidermon).toMatch(new RegExp(`^\\| ${name} \\|`, 'm'))
  const settings = SETTINGS_TABLE.map(({ name }) => name).filter((name) => name.startsWith('SPIDERMON_'))
  for (const name of settings)
    expect(guide).toContain(`\`${name}${name === 'SPIDERMON_ENABLED' ? '=false' : ''}\``)
})
