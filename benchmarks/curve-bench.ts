/**
 * Cost as work grows: what a page costs and a request weighs with a thousand to a million requests queued, at one, a
 * thousand and a hundred thousand hosts; pages a second with one, two and four workers; where a worker's time goes.
 *
 *     node --conditions=webloom-source benchmarks/curve-bench.ts [--short] [--out docs/performance]
 *
 * Prints its tables as Markdown. With `--out` it also puts them into the sections of the page of that name,
 * `docs/performance.md`, and data (`curve.json`) and charts into the folder. `--short` ends at 10⁴ requests and hosts.
 *
 * The queue alone: one worker in this process, a fetch takes 0 to 5 ms, 32 at once; every page links to one more. The
 * workers: real crawls of the site of `peers-bench.ts` (nginx, 10 000 pages of 7.4 KB with 30 links each, links only), with
 * a Redis for the queue and one for the dupefilter. No Redis saves anything; the time of a Redis is that of its main thread.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { tempDir } from '@webloom/testkit'
import { type Cluster, type ClusterPoint, crawlTogether } from './curve/growing-cluster.ts'
import { growQueue, type QueuePoint } from './curve/growing-queue.ts'
import { lineChart } from './curve/line-chart.ts'
import { type Curve, chartsOf, sectionsOf } from './curve/measured-curve.ts'
import { partsOfPage } from './curve/worker-profile.ts'
import { serveBenchSite } from './peers/site.ts'

const { values } = parseArgs({
  options: { short: { type: 'boolean', default: false }, out: { type: 'string' } },
})

const SIZES = values.short ? [1e3, 1e4] : [1e3, 1e4, 1e5, 1e6]
const HOSTS = values.short ? [1, 1e3, 1e4] : [1, 1e3, 1e5]
const SAMPLE_PAGES = values.short ? 2000 : 5000
const SITE_PAGES = values.short ? 3000 : 10_000
const CLUSTERS: readonly Cluster[] = [
  { workers: 1, filter: 'redis-set' },
  { workers: 2, filter: 'redis-set' },
  { workers: 4, filter: 'redis-set' },
  { workers: 1, filter: 'redis-bloom' },
]

const curve = await measureCurve()
console.log(Object.values(sectionsOf(curve)).join('\n\n'))
if (values.out !== undefined) await writeCurve(values.out, curve)

async function measureCurve(): Promise<Curve> {
  const cores = cpus().length
  const day = new Date().toISOString().slice(0, 10)
  const measured = `${day}, Node ${process.versions.node}, ${cores} cores for all of it, load ${loadavg()[0]!.toFixed(1)} before it began`
  const queue: QueuePoint[] = []
  for (const hosts of HOSTS) {
    const sizes = SIZES.filter((size) => size >= hosts)
    for await (const point of growQueue(hosts, sizes, SAMPLE_PAGES)) queue.push(told(point))
  }
  const clusters: ClusterPoint[] = []
  await using site = await serveBenchSite(SITE_PAGES)
  for (const cluster of CLUSTERS) clusters.push(told(await crawlTogether(site, cluster)))
  await using profiles = await tempDir()
  await crawlTogether(site, CLUSTERS[0]!, ['--cpu-prof', `--cpu-prof-dir=${profiles.path}`])
  const parts = await partsOfPage(profiles.path)
  return {
    measured,
    isShort: values.short,
    cores,
    samplePages: SAMPLE_PAGES,
    sitePages: SITE_PAGES,
    queue,
    clusters,
    parts,
  }
}

/** The whole takes minutes; this shows how far it has come. */
function told<Point extends object>(point: Point): Point {
  console.error(JSON.stringify(point))
  return point
}

async function writeCurve(folder: string, curve: Curve): Promise<void> {
  const path = `${folder}.md`
  const page = withSections(await readFile(path, 'utf8'), sectionsOf(curve))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'curve.json'), `${JSON.stringify(curve, null, 2)}\n`)
  for (const [name, chart] of Object.entries(chartsOf(curve)))
    await writeFile(join(folder, `${name}.svg`), lineChart(chart))
  await writeFile(path, page)
}

/** What stands between `<!-- curve: name -->` and `<!-- end -->` is that section. */
function withSections(page: string, sections: Record<string, string>): string {
  return page.replace(/(<!-- curve: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_, begin, name, end) => {
    const section = sections[name]
    if (section === undefined) throw new Error(`the page has a section ${name}, which is not measured`)
    return `${begin}${section}\n${end}`
  })
}
