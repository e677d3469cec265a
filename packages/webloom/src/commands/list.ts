import { UsageError, type WrittenSettings } from '@webloom/core'
import type { LoadedConfig } from '../loading/config.ts'
import { shownPath } from '../loading/source-place.ts'
import { loadProjectSpiders } from '../loading/spider-loader.ts'
import { typedHints } from '../terminal/resume-line.ts'
import { visible } from '../terminal/sanitize.ts'

export interface ListFlags {
  readonly set?: readonly string[]
  readonly json?: boolean
}

/**
 * Prints the names of the project's spiders; files that cannot be loaded are reported after them.
 *
 * @param command settings of the command line, which may name another loader
 */
export async function list(
  config: LoadedConfig,
  { json }: ListFlags,
  command: WrittenSettings,
): Promise<void> {
  const { spiders, problems } = await loadProjectSpiders(config, {}, command)
  if (json) console.log(JSON.stringify(spiders.map(({ name, file }) => ({ name, file }))))
  else for (const { name } of spiders) console.log(visible(name))
  if (problems.length > 0) throw new UsageError('WL_SPIDER_LOAD', problems.join('\n\n'))
  // Not among the names, which a program may read.
  if (spiders.length === 0) process.stderr.write(`${typedHints(noSpiders(config))}\n`)
}

function noSpiders({ path, spiders }: LoadedConfig): string {
  const places = spiders.filter((source) => typeof source === 'string')
  if (places.length === 0) return 'There are no spiders.'
  return `There are no spiders in ${places.map(visible).join(', ')}, where ${shownPath(path)} looks for them. Make one:  webloom genspider <name> <site>`
}
