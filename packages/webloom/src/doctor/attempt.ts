import { SettingsError, WebloomError } from '@webloom/core'
import type { CheckResults } from './check-result.ts'

/** Runs a check; what it throws is its result, so that the others still run. */
export async function resultsOf(
  check: string,
  look: () => CheckResults | Promise<CheckResults>,
): Promise<CheckResults> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof SettingsError)
      return error.problems.map((found) => ({ check: 'settings', state: 'fail', found }))
    const told = error instanceof WebloomError || !(error instanceof Error)
    const found = told ? String((error as Error).message ?? error) : `the check itself failed: ${error}`
    return [{ check, state: 'fail', found }]
  }
}

/** The same setting may be in the way of several checks. */
export function withoutRepeats(results: CheckResults): CheckResults {
  return [...new Map(results.map((one) => [`${one.check} ${one.found}`, one])).values()]
}
