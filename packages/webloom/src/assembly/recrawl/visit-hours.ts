import type { Settings } from '@webloom/core'

/** Between two visits of a page, in hours: what RECRAWL_INTERVAL and its bounds say. */
export interface VisitHours {
  readonly meanHours: number
  readonly minHours: number
  readonly maxHours: number
}

export function visitHoursOf(settings: Settings): VisitHours {
  const meanHours = settings.getFloat('RECRAWL_INTERVAL')
  return {
    meanHours,
    minHours:
      settings.get('RECRAWL') === 'fixed'
        ? meanHours
        : Math.min(meanHours, settings.getFloat('RECRAWL_INTERVAL_MIN')),
    maxHours: Math.max(meanHours, settings.getFloat('RECRAWL_INTERVAL_MAX')),
  }
}
