import { UsageError } from '@webloom/core'
import type { LoadedConfig } from '../loading/config.ts'
import { loadProjectSpiders } from '../loading/spider-loader.ts'
import { visible } from '../terminal/sanitize.ts'

/** Prints the names of the project's spiders; files that cannot be loaded are reported after them. */
export async function list(config: LoadedConfig, { json }: { json?: boolean }): Promise<void> {
  const { spiders, problems } = await loadProjectSpiders(config)
  if (json) console.log(JSON.stringify(spiders.map(({ name, file }) => ({ name, file }))))
  else for (const { name } of spiders) console.log(visible(name))
  if (problems.length > 0) throw new UsageError('WL_SPIDER_LOAD', problems.join('\n\n'))
}
