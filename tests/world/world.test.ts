import { test } from 'vitest'
import { runWorlds } from './world-round.ts'

/**
 * Those that have found something, one of a family whose faults no other test here brings about; the soak has more of them, and
 * draws new ones for an hour.
 */
const SEEDS = ['hail-7', 'set-back-3', 'restart-1', 'jump-1']
/** With more the machine would have the workers stand still, and a lost lock allow what is looked for. */
const AT_ONCE = 3

test('whatever strikes a crawl, no page is lost and none is fetched more often than guarantee 1 allows', {
  timeout: 180_000,
  retry: 0,
}, async () => {
  const wrong: string[] = []
  await runWorlds(SEEDS, AT_ONCE, (result) => {
    // The verdict last: of a long output the end is what is read first.
    for (const one of result.wrong)
      wrong.push(`${result.logs}\n${result.struck.join('\n')}\n${result.seed}: ${one}`)
  })
  if (wrong.length > 0) throw new Error(wrong.join('\n\n'))
})
