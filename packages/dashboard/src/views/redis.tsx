/** The Redis servers of a crawl. */

import type { ServerSeen } from '@webloom/core'
import type { Region } from '../live/region.ts'
import type { WatchedDesk } from '../live/watched-desk.ts'
import { Meter } from '../parts/drawn.tsx'
import { Card, Figure, Figures, Nothing } from '../parts/values.tsx'
import { byteSize, grouped, percent } from '../text/figures.ts'
import { shown } from '../text/shown.ts'
import type { CrawlView } from './crawl-view.ts'

export const redis: CrawlView = { path: 'redis', title: 'Redis', regions }

async function regions(watched: WatchedDesk): Promise<readonly Region[]> {
  const { servers, pagesPerMinute, highWater } = await watched.status()
  if (servers.length === 0)
    return [{ id: 'server', isWide: true, node: <Nothing>This crawl uses no Redis.</Nothing> }]
  return servers.map((server, n) => ({
    id: `server-${n}`,
    isWide: true,
    node: (
      <Server
        server={server}
        share={watched.redisShare(server.shown)}
        pagesPerSecond={pagesPerMinute / 60}
        highWater={highWater}
      />
    ),
  }))
}

const PERSISTENCE: { readonly [Kind in ServerSeen['persistence']]: string } = {
  aof: 'each second (appendonly)',
  rdb: 'snapshots only',
  none: 'nothing is kept on disk',
  unknown: 'not known: CONFIG is not allowed',
}

function Server({
  server,
  share,
  pagesPerSecond,
  highWater,
}: {
  server: ServerSeen
  share: number | undefined
  pagesPerSecond: number
  highWater: number
}) {
  const { roles, usedBytes, maxBytes, maxmemoryPolicy, persistence, warnings, version } = server
  const full = maxBytes > 0 ? usedBytes / maxBytes : undefined
  return (
    <Card title={shown(server.shown, 80)} aside={shown(roles.join(', '), 80)}>
      <Figures>
        <Figure
          name="Memory"
          value={byteSize(usedBytes)}
          note={maxBytes > 0 ? `of ${byteSize(maxBytes)}` : 'no maxmemory'}
        >
          {full !== undefined && <Meter share={full} label={`${percent(full)} of its maxmemory`} />}
        </Figure>
        {share === undefined ? (
          <Figure name="Processor" value="–" note="measured between two looks, a second apart" />
        ) : (
          <Figure name="Processor" value={percent(share, 1)} note="of one, all its clients" />
        )}
        {share === undefined || pagesPerSecond === 0 ? (
          <Figure
            name="Time a page"
            value="–"
            note={pagesPerSecond === 0 ? 'no page in the last minute' : 'known with the processor time'}
          />
        ) : (
          <Figure
            name="Time a page"
            value={grouped((share * 1e6) / pagesPerSecond, 0)}
            unit="µs"
            note="all that this Redis does"
          />
        )}
      </Figures>
      <dl class="pairs">
        {highWater > 0 && maxBytes > 0 && roles.includes('queue') && (
          <>
            <dt>High water</dt>
            <dd>above {percent(highWater)} new links wait</dd>
          </>
        )}
        <dt>When it is full</dt>
        <dd>{shown(maxmemoryPolicy, 40)}</dd>
        <dt>On disk</dt>
        <dd>{PERSISTENCE[persistence]}</dd>
        <dt>Version</dt>
        <dd>{shown(version, 40)}</dd>
      </dl>
      {warnings.map((warning) => (
        <p class="warning">{shown(warning, 400)}</p>
      ))}
    </Card>
  )
}
