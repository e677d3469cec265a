/**
 * Pages with a few things wrong, as real ones have them: a bit flipped, a piece lost or repeated, and in between what
 * decides how all that follows is read (a quote, the begin of a comment, of a script, of SVG).
 */
export function brokenMarkup(html: string, random: () => number): string {
  let broken = html
  const below = (end: number) => Math.floor(random() * end)
  for (let times = 1 + below(BREAKS_MAX); times > 0; times--) {
    const at = below(broken.length + 1)
    const before = broken.slice(0, at)
    const after = broken.slice(at)
    switch (below(5)) {
      case 0:
        broken = before + flipped(after, below(7))
        break
      case 1:
        broken = before + after.slice(1 + below(40))
        break
      case 2:
        broken = before + broken.slice(below(broken.length)).slice(0, 1 + below(200)) + after
        break
      default:
        broken = before + TOKENS[below(TOKENS.length)]! + after
    }
  }
  return broken
}

const BREAKS_MAX = 8

// biome-ignore format: one token after another.
const TOKENS = [
  '<', '>', '"', "'", '=', '/', '&', '&amp', '&copy=', '&#0;', '&#x41', '&notit;', '\0', '\r\n', '\r', ' x', '<div', '</', '<!', '<?',
  '<!--', '-->', '--!>', '<!-->', '<!--->', '<![CDATA[', ']]>', '<script>', '</script>', '<script><!--', '<script><!--<script>',
  '<style>', '</style>', '<title>', '</title>', '<textarea>', '</textarea>', '<xmp>', '</xmp>', '<iframe>', '</iframe>', '<noembed>',
  '</noembed>', '<noframes>', '</noframes>', '<noscript>', '</noscript>', '<plaintext>', '<template>', '</template>', '<svg>', '</svg>',
  '<svg/>', '<math>', '</math>', '<foreignObject>', '<desc>', '<mi>', '<table>', '</table>', '<tr>', '<td>', '<a href=x', ' href=y',
  '<a href="q', '<a/href=z>', '<A HREF=W>', '</a x="', '<a ="x">', '<a b=c="x>">', '<a\fhref\n=\t"x">', '<a href=x/>', '<area href=h>',
  '<base href=b>', '<body>', '</body>', '<head>', '</html>', '<p/>', '</p>', '<br>', '</br>', '<font>', '<image>',
]

function flipped(text: string, bit: number): string {
  return text === '' ? '' : String.fromCharCode(text.charCodeAt(0) ^ (1 << bit)) + text.slice(1)
}
