import type { Headers } from '@webloom/core'
import type { PageFlags } from '../authoring/page-workbench.ts'
import { openWorkbench, pageAt, typedUrl } from '../authoring/page-workbench.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { visible, visibleLines } from '../terminal/sanitize.ts'

export interface FetchFlags extends PageFlags {
  readonly headers?: boolean
}

/** Prints a page as the crawl would get it, or what was sent and what was answered. */
export async function fetchPage(
  typed: string,
  flags: FetchFlags,
  config: LoadedConfig | undefined,
): Promise<void> {
  const url = typedUrl(typed)
  await using workbench = await openWorkbench(url, flags, config)
  const response = await pageAt(workbench, url, flags)
  if (flags.headers) {
    const { request } = response
    const lines = [
      ...(response.flags.includes('rendered') ? [OF_A_BROWSER] : []),
      `> ${request.method} ${request.url}`,
      ...headerLines('>', request.headers),
      `< ${response.status} ${response.url}`,
      ...headerLines('<', response.headers),
    ]
    process.stdout.write(`${lines.map(visible).join('\n')}\n`)
  } else if (process.stdout.isTTY) process.stdout.write(visibleLines(response.text))
  else process.stdout.write(response.body)
}

/** A browser tells nobody all that it sends. */
const OF_A_BROWSER =
  '* A browser has asked for the page: it writes Accept, Accept-Encoding and the like itself, and sends what was set for this request'

function headerLines(mark: string, headers: Headers): string[] {
  return [...headers].map(([name, value]) => `${mark} ${name}: ${value}`)
}
