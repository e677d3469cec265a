/** The sites of spider-traps.test.ts with the default length of a chain, and one that is larger. */

import './spider-traps.test.ts'
import { test } from 'vitest'
import { eachIsFetched } from './trap-site.ts'

test('10 000 pages /p/<n>.html are not cut', () => eachIsFetched(10_000))
