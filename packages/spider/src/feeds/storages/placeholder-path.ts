import { join, resolve } from 'node:path'
import type { Settings } from '@webloom/core'
import { type OwnTarget, type S3Target, shownUri } from './feed-uri.ts'

/** Returns the path beside which the items of a remote output are kept until they are sent. */
export function placeholderPath(target: S3Target | OwnTarget, settings: Settings, cwd: string): string {
  const folder = resolve(cwd, settings.get('FEED_TEMPDIR') ?? '.webloom/feeds')
  const names = target.kind === 's3' ? [target.bucket, ...target.key.split('/')] : namesIn(target)
  return join(folder, ...names.map((name) => encodeURIComponent(name).replace(/^\.*$/, '_')))
}

/** Returns the parts of the URI without a password: `sftp`, `host`, `folder`, `out.jsonl`. */
function namesIn({ scheme, uri }: OwnTarget): string[] {
  return [scheme, ...shownUri(uri).slice(`${scheme}://`.length).replaceAll('*', '_').split('/')]
}
