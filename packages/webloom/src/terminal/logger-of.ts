import type { Logger, Settings, StatsCollector } from '@webloom/core'
import { createLogger } from './logger.ts'
import { processScreen } from './screen.ts'

/** The logger that LOG_ENABLED, LOG_LEVEL, LOG_FORMAT, LOG_COLOR, LOG_FILE and LOG_FILE_APPEND ask for. */
export function loggerOf(settings: Settings, stats?: StatsCollector): Logger {
  const path = settings.get('LOG_FILE')
  return createLogger({
    enabled: settings.getBool('LOG_ENABLED'),
    level: settings.getString('LOG_LEVEL'),
    format: settings.get('LOG_FORMAT'),
    ...(!settings.getBool('LOG_COLOR') && { color: false }),
    destination: path === null ? processScreen() : { path, append: settings.getBool('LOG_FILE_APPEND') },
    ...(stats && { stats }),
  })
}

/** Returns whether a person reads standard error: then tables suit it better than JSON. */
export function logsAreForPeople(settings: Settings): boolean {
  const format = settings.get('LOG_FORMAT')
  return format === 'pretty' || (format === 'auto' && processScreen().isTty)
}
