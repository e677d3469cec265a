/**
 * What `npm test` leaves to the soaks: of what varies, the less telling cases. They stand where the others do, and a soak that
 * imports the file runs them all (`IN_FULL`).
 */

import { IN_FULL } from '@webloom/testkit'
import { test } from 'vitest'

const LEFT_OUT = Object.assign(() => {}, { each: () => () => {} }) as unknown as typeof test

/** `test` for a case that is the telling one; another is run by the soaks alone. */
export const testIf = (isTelling: boolean): typeof test => (isTelling || IN_FULL ? test : LEFT_OUT)

/** Cases of the soaks alone. */
export const inSoaks = <const Case>(...cases: readonly Case[]): readonly Case[] => (IN_FULL ? cases : [])
