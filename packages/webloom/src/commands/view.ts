import { spawn } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Response } from '@webloom/spider'
import type { PageFlags } from '../authoring/page-workbench.ts'
import { openWorkbench, pageAt, typedUrl } from '../authoring/page-workbench.ts'
import type { LoadedConfig } from '../loading/config.ts'

export interface ViewFlags extends PageFlags {
  /** False: only the path is printed. */
  readonly open?: boolean
}

/** Shows a page in the browser as the crawl gets it: without what scripts add, unless `--browser` has it rendered. */
export async function view(typed: string, flags: ViewFlags, config: LoadedConfig | undefined): Promise<void> {
  const url = typedUrl(typed)
  await using workbench = await openWorkbench(url, flags, config)
  const path = await savePage(await pageAt(workbench, url, flags))
  process.stdout.write(`${path}\n`)
  if (flags.open !== false) openInBrowser(path)
}

/** Writes the page to a temporary file, which stays, with a `<base>` so that its images and styles are found. */
export async function savePage(response: Response): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'webloom-view-'))
  const isHtml = /html/i.test(response.headers.get('content-type') ?? 'text/html')
  const path = join(folder, isHtml ? 'page.html' : 'page.txt')
  await writeFile(path, isHtml ? withBase(response) : response.body)
  return path
}

function withBase({ text, url }: Response): string {
  if (/<base\b/i.test(text)) return text
  const base = `<meta charset="utf-8"><base href="${url.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">`
  const head = /<head(?:\s[^>]*)?>/i.exec(text)
  return head
    ? text.slice(0, head.index + head[0].length) + base + text.slice(head.index + head[0].length)
    : base + text
}

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens a file with BROWSER, else with what the system opens pages with. */
export function openInBrowser(path: string): void {
  const [command, ...args] = process.env.BROWSER
    ? [process.env.BROWSER]
    : (OPENERS[process.platform] ?? ['xdg-open'])
  const browser = spawn(command!, [...args, path], { stdio: 'ignore', detached: true })
  browser.on('error', ({ message }) => {
    process.stderr.write(`no browser could be started (${message}); set BROWSER, or open the file yourself\n`)
  })
  browser.unref()
}
