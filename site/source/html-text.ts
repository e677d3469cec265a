/** The characters that HTML of ours writes by names. */
export function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#123;', '{')
    .replaceAll('&amp;', '&')
}
