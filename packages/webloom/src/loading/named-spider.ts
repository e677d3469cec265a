/** The spider that a command names: by its name in the project, or by its file where there is none. */

import type { WrittenSettings } from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import { configHere, type LoadedConfig, noConfig, projectConfig } from './config.ts'
import { givenSettings, spiderArguments } from './crawl-flags.ts'
import { fileInPlaceOf, findSpider, isSpiderFile, loadSpiderFile } from './spider-loader.ts'

export interface NamedSpider {
  readonly Class: SpiderClass
  readonly config: LoadedConfig
}

/** What a command was given for the spider that it names. */
export interface SpiderFlags {
  readonly set?: readonly string[]
  readonly argument?: readonly string[]
}

/**
 * A file is used with the project's settings when it stands in a project, and without any else: what one process began
 * with `runspider quotes.ts` many go on with by `worker quotes.ts`.
 */
export async function namedSpider(named: string, flags: SpiderFlags): Promise<NamedSpider> {
  if (isSpiderFile(named))
    return { Class: await loadSpiderFile(named), config: (await configHere()) ?? noConfig(process.cwd()) }
  const command = givenSettings(flags)
  const config = await projectOfSpider(named, command)
  const { Class } = await findSpider(config, named, spiderArguments(flags), command)
  return { Class, config }
}

/**
 * The config of the project that has a spider of this name. Who is in no project is told of the spider's file.
 *
 * @param command settings of the command line
 */
export function projectOfSpider(named: string, command: WrittenSettings): Promise<LoadedConfig> {
  return projectConfig(process.cwd(), command, () => fileInPlaceOf(named))
}
