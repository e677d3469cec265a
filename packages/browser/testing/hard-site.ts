/** A site with each kind of page that hangs, fills or misleads a browser, and what must come of it. */

import { Site } from './browsing.ts'

/** What comes: the status of a response, or the kind of the error. */
export type Outcome = number | string

export interface HardPage {
  readonly name: string
  readonly outcomes: readonly Outcome[]
  /** A method of `Crashes` that is run with it. */
  readonly script?: 'crash'
}

export const TOO_LATE = 'DownloadTimeoutError'
const FAILED = 'DownloadFailedError'

/** Their scripts, and what comes of them. Some take their time, and what comes depends on how much the machine has. */
const SCRIPTS: Readonly<Record<string, readonly [script: string, ...outcomes: Outcome[]]>> = {
  popups: ['for (let n = 0; n < 10; n++) window.open("/small")', 200],
  dialogs: ['alert(1); confirm(2); prompt(3); onbeforeunload = (event) => event.preventDefault()', 200],
  'a download': [
    'document.body.append(Object.assign(document.createElement("iframe"), { src: "/download" }))',
    200,
  ],
  'no end': ['while (true);', TOO_LATE],
  'a full heap': ['const all = []; while (true) all.push(new Array(1e7).fill(1.5))', FAILED, TOO_LATE],
  'endless requests': ['setInterval(() => fetch("/small?" + Math.random()), 20)', 200],
  'a request without an answer': ['fetch("/never")', 200],
  'many frames': [
    'for (let n = 0; n < 1000; n++) document.body.append(document.createElement("iframe"))',
    200,
    TOO_LATE,
  ],
  'a service worker': ['navigator.serviceWorker.register("/worker.js")', 200],
  'a slow asset': ['document.body.append(Object.assign(new Image(), { src: "/never" }))', 200],
  'sockets that never end': [
    'new WebSocket("ws://" + location.host + "/never"); new EventSource("/never")',
    200,
  ],
  'a redirect by script': ['location.href = "/small"', 302],
}

const pathOf = (name: string) => `/hard/${encodeURIComponent(name)}`

export const HARD_PAGES: readonly HardPage[] = [
  ...Object.entries(SCRIPTS).map(([name, [, ...outcomes]]) => ({ name, outcomes })),
  { name: 'a crash', outcomes: [FAILED], script: 'crash' },
  { name: 'a redirect', outcomes: [302] },
  { name: 'a redirect by meta', outcomes: [302] },
  { name: 'no content', outcomes: [204] },
  { name: 'a PDF', outcomes: [200] },
  { name: 'an attachment', outcomes: [200] },
]

interface CrashingPage {
  context(): { newCDPSession(page: CrashingPage): Promise<{ send(method: string): Promise<unknown> }> }
}

/** A spider, as far as the handler knows it: its method ends the process of the page. */
export class Crashes {
  readonly name = 'crashes'
  async crash(page: CrashingPage) {
    const session = await page.context().newCDPSession(page)
    await session.send('Page.crash')
  }
}

/** With `/ordinary` beside them, whose text a script draws. */
export async function hardSite(): Promise<Site> {
  const site = await Site.start()
  site.html('/small', '<b>small</b>')
  site.html(
    '/ordinary',
    '<p id=p></p><script>fetch("/small").then(() => { p.textContent = "drawn" })</script>',
  )
  // Never answered.
  site.page('/never', () => {})
  site.page('/worker.js', (_, answer) =>
    answer
      .writeHead(200, { 'content-type': 'text/javascript' })
      .end('onfetch = () => {}; setInterval(() => {}, 10)'),
  )
  for (const [name, [script]] of Object.entries(SCRIPTS))
    site.html(pathOf(name), `<body><b>here</b><script>${script}</script>`)
  const attachment = { 'content-disposition': 'attachment; filename=a.bin' }
  const answers: Readonly<Record<string, readonly [number, Record<string, string>, string]>> = {
    '/download': [200, attachment, 'bytes'],
    [pathOf('an attachment')]: [200, attachment, 'bytes'],
    [pathOf('a crash')]: [200, { 'content-type': 'text/html' }, '<b>here</b>'],
    [pathOf('a redirect')]: [302, { location: '/small' }, ''],
    [pathOf('a redirect by meta')]: [
      200,
      { 'content-type': 'text/html' },
      '<meta http-equiv=refresh content="0; url=/small">',
    ],
    [pathOf('no content')]: [204, {}, ''],
    [pathOf('a PDF')]: [200, { 'content-type': 'application/pdf' }, '%PDF-1.4'],
  }
  for (const [path, [status, headers, body]] of Object.entries(answers))
    site.page(path, (_, answer) => answer.writeHead(status, headers).end(body))
  return site
}

export function hardUrl(site: Site, { name }: HardPage): string {
  return site.origin + pathOf(name)
}
