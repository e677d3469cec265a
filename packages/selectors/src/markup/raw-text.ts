/** Names of elements that hold nothing but text, by their length. */
export const RAW_TEXT: readonly (readonly string[] | undefined)[] = Array.from(
  { length: 10 },
  (_, length) => {
    const names = 'xmp style title script iframe noembed textarea noframes plaintext'
      .split(' ')
      .filter((name) => name.length === length)
    return names.length > 0 ? names : undefined
  },
)

/**
 * Returns where a script with `<!--` in it ends, or -1. A script that hides itself from the browsers of 1995 may write
 * `<script>…</script>` in that comment, and this end tag is not its own (the standard's "double escaped state").
 */
export function commentedScriptEnd(html: string, start: number): number {
  const mark = /<!--|-->|<\/?script(?=[\s/>])/gi
  mark.lastIndex = start
  let state: 'script' | 'comment' | 'script in comment' = 'script'
  for (let found = mark.exec(html); found; found = mark.exec(html)) {
    const [word] = found
    if (word === '<!--') {
      if (state === 'script') state = 'comment'
      mark.lastIndex = found.index + 2 // `<!-->` is a comment that ends at once
    } else if (word === '-->') state = 'script'
    else if (word[1] !== '/') state = state === 'comment' ? 'script in comment' : state
    else if (state === 'script in comment') state = 'comment'
    else return found.index
  }
  return -1
}
