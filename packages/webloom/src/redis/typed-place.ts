/** The words that named a crawl's Redis on the command line, so that the lines in messages are about the same crawl. */

import type { SettingName, Settings } from '@webloom/core'
import { shellQuoted } from '../terminal/resume-line.ts'
import { shownPair } from '../terminal/shown-pair.ts'
import { namesRedis } from './desk-servers.ts'

/** Returns `-s` and what follows it, for each; one with a password is not shown, and whoever typed it knows it. */
export function typedPlace(settings: Settings): string[] {
  const names = settings.namesSet() as SettingName[]
  return names
    .filter((name) => namesRedis(name) && settings.source(name) === 'command')
    .flatMap((name) => {
      const value: unknown = settings.get(name)
      const pair = `${name}=${value}`
      return typeof value === 'object' || shownPair(pair) !== pair ? [] : ['-s', shellQuoted(pair)]
    })
}
