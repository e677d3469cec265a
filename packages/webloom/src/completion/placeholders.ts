/** What may stand for a placeholder of the command line: for `<spider>` a spider's name, for `<NAME=VALUE>` a setting. */

import { DUPEFILTER_NAMES, FAILURE_REASONS, SETTINGS_TABLE, type Setting, settingRow } from '@webloom/core'
import type { Option } from 'commander'
import { SPIDER_TEMPLATES } from '../authoring/spider-templates.ts'
import { type Candidates, NONE } from './candidates.ts'
import { spiderCandidates } from './project-spiders.ts'
import { SHELLS } from './shell-scripts.ts'

type Source = (typed: string) => Candidates

const none: Source = () => NONE
const files: Source = () => ({ values: [], files: true })
const oneOf =
  (names: readonly string[]): Source =>
  () => ({ values: names.map((name) => [name]), files: false })

/** By the placeholder, without its brackets and dots; where it means something else to one command, behind that command's name. */
const SOURCES: Readonly<Record<string, Source>> = {
  spider: spiderCandidates,
  'name or file': spiderCandidates,
  'NAME=VALUE': settingPair,
  NAME: () => ({ values: SETTINGS.map(({ name, summary }) => [name, summary]), files: false }),
  level: () => oneOf(valuesOf('LOG_LEVEL'))(''),
  template: oneOf(Object.keys(SPIDER_TEMPLATES)),
  shell: oneOf(SHELLS),
  from: () => ({ values: [['scrapy-redis', 'the queue of a Python crawl']], files: true }),
  where: oneOf(['scrapy-redis']),
  file: files,
  'file[:format]': files,
  F: files,
  // A local file as well as a URL; of the URLs nothing is known.
  url: files,
  'dash url': none,
  'mcp url': none,
  urls: none,
  messages: files,
  ids: none,
  what: none,
  signature: none,
  moment: none,
  reason: oneOf(FAILURE_REASONS),
  name: none,
  host: none,
  address: none,
  spiders: spiderCandidates,
  time: none,
  cron: none,
  schedule: none,
  zone: () => ({ values: Intl.supportedValuesOf('timeZone').map((zone) => [zone]), files: false }),
  site: none,
  code: none,
  json: none,
  text: none,
  'time span': none,
  'name=value': none,
  'there=here': none,
  'here=there': none,
  N: none,
  P: none,
  B: none,
  K: none,
}

/** Returns what stands in the brackets of `--file <F>`; undefined for an option that takes no value. */
export function placeholderOf({ flags }: Option): string | undefined {
  return /<(.+)>/.exec(flags)?.[1]
}

/** Undefined: nobody has said what this placeholder stands for. */
export function sourceOf(placeholder: string, command: string): Source | undefined {
  const name = placeholder.replace(/\.\.\.$/, '')
  const key = [`${command} ${name}`, name].find((one) => Object.hasOwn(SOURCES, one))
  return key === undefined ? undefined : SOURCES[key]
}

const SETTINGS = SETTINGS_TABLE.filter(({ use }) => use === 'used')

/** The names; behind `=` what the setting may be, where these are few. */
function settingPair(typed: string): Candidates {
  const equals = typed.indexOf('=')
  if (equals < 0) return { values: SETTINGS.map(({ name, summary }) => [`${name}=`, summary]), files: false }
  const name = typed.slice(0, equals)
  const values = valuesOf(name)
  return { values: values.map((value) => [`${name}=${value}`]), files: false }
}

function valuesOf(name: string): readonly string[] {
  const row: Setting | undefined = settingRow(name)
  if (row?.type === 'bool') return ['true', 'false']
  // Its built-in names are those of its package.
  if (row?.name === 'DUPEFILTER_CLASS') return DUPEFILTER_NAMES
  return row && 'choices' in row ? (row.choices ?? []) : []
}
