import { type Look, type WatchedPlan, watchCrawl } from './watched-crawl.ts'

/**
 * Prints the rate of each look, and what the crawl kept: of each round the mean of its looks that were seen by the mean of the others, and
 * of all rounds the median, with the bounds between which the true one is in 95 of 100 such runs. A rate wanders by a tenth on a machine
 * with other things to do, so a few rounds show nothing.
 */
export async function reportWatchedCrawl(plan: WatchedPlan): Promise<void> {
  const looks = await watchCrawl(plan)
  const [seen, unseen] = [true, false].map((isSeen) => looks.filter((look) => look.isSeen === isSeen))
  for (const look of looks)
    console.log(`${look.isSeen ? 'seen  ' : 'unseen'} ${look.pagesPerSecond.toFixed(0)} pages/s`)
  const rateOf = (some: readonly Look[]) => mean(some.map(({ pagesPerSecond }) => pagesPerSecond))
  const kept = Array.from({ length: plan.rounds }, (_, n) => {
    const round = looks.slice(4 * n, 4 * n + 4)
    return rateOf(round.filter(({ isSeen }) => isSeen)) / rateOf(round.filter(({ isSeen }) => !isSeen))
  })
  console.log(`\nmilliseconds of processor a second\n| process | unseen | seen |\n| --- | ---: | ---: |`)
  for (const name of Object.keys(looks[0]!.cpuMs) as (keyof Look['cpuMs'])[]) {
    const of = (some: readonly Look[]) => mean(some.map(({ cpuMs }) => cpuMs[name])).toFixed(1)
    console.log(`| ${name} | ${of(unseen!)} | ${of(seen!)} |`)
  }
  console.log(`\n${(mean(seen!.map((look) => look.bytesPerSecond)) / 1000).toFixed(1)} kB a second were sent`)
  const [alone, together] = [crawlCpuOf(unseen!), allCpuOf(seen!)]
  console.log(
    `a page took ${alone.toFixed(3)} ms of processor unseen, and ${together.toFixed(3)} ms seen with all that looks: where processors are all that limits it, a crawl keeps ${percent(alone / together)}`,
  )
  console.log(
    `the crawl kept ${percent(median(kept))} of its rate: the median of ${kept.length} rounds, ${boundsWords(kept)} (rounds: ${kept.map(percent).join(', ')}; all looks together: ${percent(rateOf(seen!) / rateOf(unseen!))})`,
  )
}

/** A page's processor time: that of the crawl, its Redis and its site. */
function crawlCpuOf(looks: readonly Look[]): number {
  const crawl = looks.map(({ cpuMs }) => cpuMs.workers + cpuMs.redis + cpuMs.site)
  return mean(crawl) / mean(looks.map(({ pagesPerSecond }) => pagesPerSecond))
}

function allCpuOf(looks: readonly Look[]): number {
  const all = looks.map(({ cpuMs }) => Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0))
  return mean(all) / mean(looks.map(({ pagesPerSecond }) => pagesPerSecond))
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return mean([sorted[Math.floor((sorted.length - 1) / 2)]!, sorted[Math.ceil((sorted.length - 1) / 2)]!])
}

/** By rank: it is as likely above the median as below, whatever the rates are spread like. */
function boundsWords(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b)
  let [below, chance, rank] = [0, 0.5 ** sorted.length, 0]
  // `below`: how likely it is that no more than `rank` of the rounds are on one side.
  while (below + chance <= 0.025) {
    below += chance
    chance = (chance * (sorted.length - rank)) / (rank + 1)
    rank++
  }
  if (rank === 0) return 'too few to tell how sure it is'
  return `with 95 % between ${percent(sorted[rank - 1]!)} and ${percent(sorted.at(-rank)!)}`
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
