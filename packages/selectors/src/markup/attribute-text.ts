import { decodeHTMLAttribute } from 'entities'

/** Returns an attribute's value as the tree has it: references resolved, one kind of line end, no NUL. */
export function attributeText(written: string): string {
  const text = written.includes('\r') ? written.replace(/\r\n?/g, '\n') : written
  return decodeReferences(text).replaceAll('\0', '\ufffd')
}

function decodeReferences(text: string): string {
  // Nearly all that stand in URLs are &amp;, and the decoder takes ten times as long.
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (!text.startsWith('amp;', at + 1)) return decodeHTMLAttribute(text)
  }
  return text.replaceAll('&amp;', '&')
}
