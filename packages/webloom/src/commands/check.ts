import { Request } from '@webloom/core'
import { createSpider } from '@webloom/spider'
import { breaches, type Contract, contractsOf } from '../authoring/contracts.ts'
import type { PageFlags } from '../authoring/page-workbench.ts'
import { openWorkbenchOf, pageOf } from '../authoring/page-workbench.ts'
import type { Workbench } from '../authoring/workbench.ts'
import { EXIT } from '../exit-codes.ts'
import { type LoadedConfig, projectConfig } from '../loading/config.ts'
import { givenSettings } from '../loading/crawl-flags.ts'
import { projectOfSpider } from '../loading/named-spider.ts'
import {
  findSpider,
  isSpiderFile,
  loadProjectSpiders,
  loadSpiderFile,
  type ProjectSpider,
} from '../loading/spider-loader.ts'
import { visibleLines } from '../terminal/sanitize.ts'

export interface CheckFlags extends PageFlags {
  readonly list?: boolean
  readonly json?: boolean
}

interface CheckedCallback {
  readonly spider: string
  readonly callback: string
  readonly url: string
  /** In which ways the contract was broken; none when it was kept. */
  readonly broken: readonly string[]
}

/** Fetches the page of each contract and runs its callback. Returns the exit code: 1 when a contract was broken. */
export async function check(
  name: string | undefined,
  flags: CheckFlags,
  config: LoadedConfig | undefined,
): Promise<number> {
  const spiders = await spidersNamed(name, flags, config)
  if (flags.list) {
    for (const { name: spider, Class } of spiders)
      for (const { callback, contract } of contractsOf(Class))
        console.log(`${spider}.${callback}  ${contract.url}`)
    return EXIT.finished
  }
  const all: CheckedCallback[] = []
  for (const spider of spiders) all.push(...(await checkedSpider(spider, flags, config)))
  if (flags.json) console.log(JSON.stringify(all))
  else if (all.length === 0) console.log(noContracts(spiders.map((spider) => spider.name)))
  else print(all)
  return all.some(({ broken }) => broken.length > 0) ? EXIT.unexpected : EXIT.finished
}

/** Resolves to the spiders of the project, or to the one of that name or file. */
async function spidersNamed(
  name: string | undefined,
  flags: CheckFlags,
  config: LoadedConfig | undefined,
): Promise<readonly Pick<ProjectSpider, 'name' | 'Class'>[]> {
  if (name !== undefined && isSpiderFile(name)) return [await spiderOfFile(name)]
  const given = givenSettings(flags)
  if (name !== undefined)
    return [await findSpider(config ?? (await projectOfSpider(name, given)), name, {}, given)]
  const project = config ?? (await projectConfig(process.cwd(), given))
  return (await loadProjectSpiders(project, {}, given)).spiders
}

async function spiderOfFile(path: string): Promise<Pick<ProjectSpider, 'name' | 'Class'>> {
  const Class = await loadSpiderFile(path)
  return { name: createSpider(Class).name, Class }
}

async function checkedSpider(
  { name, Class }: Pick<ProjectSpider, 'name' | 'Class'>,
  flags: CheckFlags,
  config: LoadedConfig | undefined,
): Promise<CheckedCallback[]> {
  const contracts = contractsOf(Class)
  if (contracts.length === 0) return []
  await using workbench = await openWorkbenchOf(Class, flags, config)
  const checked: CheckedCallback[] = []
  for (const { callback, contract } of contracts) {
    const broken = await broke(workbench, callback, contract)
    checked.push({ spider: name, callback, url: contract.url, broken })
  }
  return checked
}

async function broke(workbench: Workbench, callback: string, contract: Contract): Promise<string[]> {
  const { url, meta = {}, cbKwargs = {} } = contract
  try {
    const response = await pageOf(workbench, new Request(url, { dontFilter: true, callback, meta, cbKwargs }))
    return await breaches(contract, await workbench.scrape(response), response)
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

function print(all: readonly CheckedCallback[]): void {
  for (const { spider, callback, url, broken } of all) {
    console.log(`${broken.length === 0 ? 'kept   ' : 'broken '} ${spider}.${callback}  ${url}`)
    for (const how of broken) console.log(visibleLines(`          ${how}`))
  }
  const count = all.filter(({ broken }) => broken.length > 0).length
  console.log(`\n${all.length} contracts, ${count} broken`)
}

function noContracts(names: readonly string[]): string {
  const [only, ...others] = names
  const who =
    only !== undefined && others.length === 0 ? `spider ${only} has` : `no spider here (${names.length}) has`
  const what = others.length === 0 && only !== undefined ? 'no contracts' : 'contracts'
  return `${who} ${what}: nothing was checked. Write some as  static contracts = { parse: { url: 'https://…', returns: { items: 1 } } }`
}
