/** Pages that are dear to parse. */

import { type Expected, type HostileCase, isPage } from './hostile-case.ts'
import { html, send } from './raw-answer.ts'

const page = (name: string, expected: Expected, body: (path: string) => string | Buffer): HostileCase => ({
  name,
  expected,
  answer: (visit) => send(visit, body(visit.path), { 'Content-Type': 'text/html' }),
})

const TOO_MANY_NODES = isPage({ reason: 'page_nodes' })

const numbered = (count: number, piece: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => piece(n)).join('')

export const HOSTILE_PAGES: readonly HostileCase[] = [
  page('a-million-nested-tags', TOO_MANY_NODES, (path) => html(path, '<div>'.repeat(1_000_000))),
  page('a-million-attributes', TOO_MANY_NODES, (path) =>
    html(path, `<p ${numbered(1_000_000, (n) => `a${n} `)}>`),
  ),
  page('a-million-links', isPage({ reason: 'page_links' }), (path) =>
    html(
      path,
      numbered(60_000, (n) => `<a href=${n}>`),
    ),
  ),
  page('unclosed-formatting', isPage(), (path) =>
    html(
      path,
      numbered(2000, (n) => `<p><b id=${n}>`),
    ),
  ),
  page('a-huge-attribute', isPage(), (path) => html(path, `<p title="${'x'.repeat(10_000_000)}">`)),
  page('a-huge-tag-name', isPage(), (path) => html(path, `<${'x'.repeat(5_000_000)}>`)),
  page('one-long-line', isPage(), (path) => html(path, 'x'.repeat(10_000_000))),
  page('end-tags-of-nothing', isPage(), (path) =>
    html(path, `<svg>${'<g>'.repeat(600)}${'</x>'.repeat(300_000)}`),
  ),
  page('a-host-of-accents', isPage(), (path) =>
    html(path, `<a href="http://a${'\u0301\u0327'.repeat(100_000)}.test/">accents</a>`),
  ),
  page('a-comment-without-end', isPage(), (path) => html(path, '<!-- -- '.repeat(200_000))),
  page('scripts-in-scripts', isPage(), (path) => html(path, '<script><!--<script>'.repeat(100_000))),
  page('spaces-without-end', isPage(), (path) => html(path, `<a href="${' '.repeat(2_000_000)}x">`)),
  page('meta-without-end', isPage(), (path) =>
    html(path, '<meta http-equiv=refresh content='.repeat(50_000)),
  ),
  page('a-program', isPage({ reason: 'binary_page', title: '' }), () =>
    Buffer.concat([
      Buffer.from('\x7fELF', 'latin1'),
      Buffer.from(numbered(1000, (n) => `\x01\x02<a href=${n}>`)),
    ]),
  ),
  page('random-bytes', isPage({ reason: 'binary_page', title: '' }), () => {
    const bytes = Buffer.alloc(100_000)
    for (let at = 0, state = 1; at < bytes.length; at++) {
      state = (state * 48_271) % 2_147_483_647
      bytes[at] = state & 0xff
    }
    return bytes
  }),
]
