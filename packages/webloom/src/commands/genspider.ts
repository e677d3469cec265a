import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { didYouMean, makeFolder, UsageError } from '@webloom/core'
import { type Site, SPIDER_TEMPLATES, siteUrl } from '../authoring/spider-templates.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { commandName } from '../terminal/resume-line.ts'

export interface GenspiderFlags {
  readonly template: string
  readonly list?: boolean
  readonly dump?: string
  readonly force?: boolean
}

/** Writes a spider to start from, into the project's folder of spiders or, without a project, here. */
export function genspider(
  name: string | undefined,
  site: string | undefined,
  flags: GenspiderFlags,
  config: LoadedConfig | undefined,
): void {
  if (flags.list) console.log(Object.keys(SPIDER_TEMPLATES).join('\n'))
  else if (flags.dump !== undefined) console.log(template(flags.dump)({ name: 'name', site: 'example.com' }))
  else if (name !== undefined && site !== undefined) writeSpider({ name, site }, flags, config)
  else throw new UsageError('WL_USAGE', 'expected  webloom genspider <name> <domain or URL>')
}

function writeSpider(site: Site, flags: GenspiderFlags, config: LoadedConfig | undefined): void {
  const { name } = site
  if (!/^[\w.-]+$/.test(name))
    throw new UsageError(
      'WL_USAGE',
      `${JSON.stringify(name)} is not a name for a spider: letters, digits, - _ and . only`,
    )
  if (URL.parse(siteUrl(site)) === null)
    throw new UsageError('WL_USAGE', `${JSON.stringify(site.site)} is neither a host nor a URL`)
  const text = template(flags.template)(site)
  const path = join(spidersFolder(config), `${name}.ts`)
  const shown = relative('.', path)
  if (existsSync(path) && !flags.force)
    throw new UsageError('WL_USAGE', `${shown} is there already; --force writes over it`)
  try {
    makeFolder(dirname(path))
    writeFileSync(path, text)
  } catch (error) {
    throw new UsageError('WL_USAGE', `${shown} cannot be written: ${(error as Error).message}`)
  }
  console.log(`${shown}\n\nRun it:  ${commandName()} ${config ? `crawl ${name}` : `runspider ${shown}`}`)
}

function template(name: string): (site: Site) => string {
  const found = SPIDER_TEMPLATES[name]
  if (found) return found
  const names = Object.keys(SPIDER_TEMPLATES)
  throw new UsageError(
    'WL_USAGE',
    `there is no template ${name}.${didYouMean(name, names)} There are ${names.join(', ')}`,
  )
}

function spidersFolder(config: LoadedConfig | undefined): string {
  const source = config?.spiders.find((one) => typeof one === 'string' && !/\.[cm]?[jt]s$/.test(one))
  return resolve(config?.folder ?? '.', typeof source === 'string' ? source : '.')
}
