/** Visits are planned in hours, and their times are milliseconds. */
export const HOUR_MS = 3_600_000
