import type { CDPSession } from 'playwright-core'

/**
 * Resolves to the page as HTML; undefined when it is longer than `charactersMax` (0: no bound). In a world of its own, where no
 * script of the page has changed what is called.
 */
export async function domOf(session: CDPSession, charactersMax: number): Promise<string | undefined> {
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'webloom',
  })
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    contextId: executionContextId,
    returnByValue: true,
    expression: `(${HTML_OF})(${charactersMax})`,
  })
  if (exceptionDetails) throw new Error(`the DOM cannot be read: ${exceptionDetails.text}`)
  return typeof result.value === 'string' ? result.value : undefined
}

/** Runs in the page, and is a text here: our types know no `document`. */
const HTML_OF = `(charactersMax) => {
  const { doctype, documentElement } = document
  const html = (doctype ? new XMLSerializer().serializeToString(doctype) : '') + (documentElement?.outerHTML ?? '')
  return charactersMax > 0 && html.length > charactersMax ? html.length : html
}`
