/** Which host a request belongs to, and how fast that host may be asked, as the settings have it. */

import { type HostPace, type Request, type Settings, SettingsError } from '@webloom/core'

/** The host's name for politeness: `meta.download_slot`, else the URL's host name. */
export function slotOf(request: Request): string {
  if (request.hasMeta) {
    const slot = request.meta.download_slot
    if (typeof slot === 'string') return slot
  }
  return hostName(request.url)
}

/** The pace of all hosts but those that DOWNLOAD_SLOTS names. */
export function paceFrom(settings: Settings): HostPace {
  return {
    delayMs: settings.getFloat('DOWNLOAD_DELAY') * 1000,
    concurrency: settings.getInt('CONCURRENT_REQUESTS_PER_DOMAIN'),
    randomize: settings.getBool('RANDOMIZE_DOWNLOAD_DELAY'),
  }
}

/** The host of a URL without user and port: what Scrapy's download slots are named by. */
function hostName(url: string): string {
  const start = url.indexOf('://') + 3
  let end = start
  while (end < url.length && url[end] !== '/' && url[end] !== '?' && url[end] !== '#') end++
  const authority = url.slice(
    url.lastIndexOf('@', end - 1) >= start ? url.lastIndexOf('@', end - 1) + 1 : start,
    end,
  )
  const port = authority.startsWith('[') ? authority.indexOf(']') + 1 : authority.indexOf(':')
  return (port > 0 ? authority.slice(0, port) : authority).toLowerCase()
}

const SLOT_KEYS = ['delay', 'concurrency', 'randomize_delay']

/** DOWNLOAD_SLOTS as Scrapy has it: `{host: {delay: seconds, concurrency, randomize_delay}}`. */
export function slotPaces(settings: Settings): Record<string, Partial<HostPace>> {
  const paces: Record<string, Partial<HostPace>> = {}
  const problems: string[] = []
  for (const [slot, given] of Object.entries(settings.getDict('DOWNLOAD_SLOTS'))) {
    const entry = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>
    const { delay, concurrency, randomize_delay: randomize } = entry
    const unknown = Object.keys(entry).filter((key) => !SLOT_KEYS.includes(key))
    if (unknown.length > 0)
      problems.push(
        `DOWNLOAD_SLOTS[${JSON.stringify(slot)}] has ${unknown.join(', ')}; known are ${SLOT_KEYS.join(', ')}`,
      )
    if (delay !== undefined && !(typeof delay === 'number' && delay >= 0)) {
      problems.push(
        `DOWNLOAD_SLOTS[${JSON.stringify(slot)}].delay is ${JSON.stringify(delay)}; expected seconds ≥ 0`,
      )
    }
    if (concurrency !== undefined && !(Number.isInteger(concurrency) && (concurrency as number) >= 0)) {
      problems.push(
        `DOWNLOAD_SLOTS[${JSON.stringify(slot)}].concurrency is ${JSON.stringify(concurrency)}; expected a whole number ≥ 0`,
      )
    }
    paces[slot] = {
      ...(typeof delay === 'number' && { delayMs: delay * 1000 }),
      ...(typeof concurrency === 'number' && { concurrency }),
      ...(typeof randomize === 'boolean' && { randomize }),
    }
  }
  if (problems.length > 0) throw new SettingsError(problems)
  return paces
}
