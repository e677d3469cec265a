import { UsageError } from '@webloom/core'
import { type FilterPlan, PART_BYTES_MAX, planFilters } from '@webloom/dupefilter'
import { byteSize, counted, grouped } from '../terminal/figures.ts'

export interface PlanFlags {
  readonly urls: string
  readonly error?: string
  readonly bit?: string
  readonly hashNumber?: string
  readonly blocks?: string
  readonly hosts?: string
  readonly json?: boolean
}

/** Prints what each dupefilter would take and give for so many URLs: memory, error, pages lost. */
export function plan(flags: PlanFlags): void {
  const urls = numberOf(flags.urls, '--urls')
  const errorRate = flags.error === undefined ? undefined : numberOf(flags.error, '--error')
  const plans = planFilters({
    urls,
    ...(errorRate !== undefined && { errorRate }),
    ...(flags.bit !== undefined && { bit: numberOf(flags.bit, '--bit') }),
    ...(flags.hashNumber !== undefined && { hashNumber: numberOf(flags.hashNumber, '--hash-number') }),
    ...(flags.hosts !== undefined && { hosts: numberOf(flags.hosts, '--hosts') }),
    ...(flags.blocks !== undefined && { blocks: numberOf(flags.blocks, '--blocks') }),
  })
  if (flags.json) {
    console.log(JSON.stringify(plans))
    return
  }
  console.log(
    `${grouped(urls)} URLs; with a list in DUPEFILTER_REDIS_URL each server holds its part of them\n`,
  )
  for (const one of plans) console.log(planText(one))
}

function planText(plan: FilterPlan): string {
  const { filter, variant, bytes, bytesPerUrl, errorAtEnd, pagesLost, bits, hashes, blocks } = plan
  return [
    `${filter}   ${variant}`,
    `  memory      ${byteSize(bytes)}, ${bytesPerUrl.toFixed(2)} bytes a URL`,
    ...(bits === undefined
      ? []
      : [`  bits        ${grouped(bits)} in ${counted(blocks!, 'block')}, ${hashes} hashes`]),
    `  error       ${errorAtEnd === 0 ? 'none' : errorAtEnd.toExponential(1)} at the end`,
    `  pages lost  ${pagesLost < 0.5 ? (pagesLost === 0 ? 'none' : 'less than one') : `about ${grouped(Math.round(pagesLost))}`}`,
    ...(plan.shards === undefined
      ? []
      : [`  cluster     DUPEFILTER_SHARDS=${plan.shards} makes parts of ${byteSize(PART_BYTES_MAX)}`]),
    ...plan.warnings.map((warning) => `  warning     ${warning}`),
    '',
  ].join('\n')
}

/** `1e9` and `1_000_000`, too. */
function numberOf(text: string, flag: string): number {
  const number = Number(text.replaceAll('_', ''))
  if (text.trim() !== '' && Number.isFinite(number) && number > 0) return number
  throw new UsageError(
    'WL_USAGE',
    `${flag} is ${JSON.stringify(text)}; expected a number above 0, such as 1e9`,
  )
}
