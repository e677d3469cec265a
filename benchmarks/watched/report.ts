import { type Look, type WatchedPlan, watchCrawl } from './watched-crawl.ts'

/** Prints the rate of each look, and what the crawl kept: the mean of those that were seen by the mean of the others. */
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
    `the crawl kept ${percent(rateOf(seen!) / rateOf(unseen!))} of its rate (rounds: ${kept.map(percent).join(', ')})`,
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

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
