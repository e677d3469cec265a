import { DownloadError } from '@webloom/core'
import type { CDPSession } from 'playwright-core'

const CHUNK_BYTES = 1_048_576

/**
 * Resolves to the body of a document that is not rendered, unpacked as the browser does. Rejects with DownloadTooLargeError past
 * `bytesMax` (0: no bound); what has not come by then stays where it is.
 */
export async function bodyOf(
  session: CDPSession,
  requestId: string,
  { url, bytesMax }: { url: string; bytesMax: number },
): Promise<Uint8Array> {
  const { stream: handle } = await session.send('Fetch.takeResponseBodyAsStream', { requestId })
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for (;;) {
      const { data, base64Encoded, eof } = await session.send('IO.read', { handle, size: CHUNK_BYTES })
      const chunk = Buffer.from(data, base64Encoded ? 'base64' : 'utf8')
      bytes += chunk.length
      if (bytesMax > 0 && bytes > bytesMax) throw tooLarge(url, bytesMax)
      chunks.push(chunk)
      if (eof) return Buffer.concat(chunks)
    }
  } finally {
    await session.send('IO.close', { handle }).catch(() => {})
  }
}

export function tooLarge(url: string, bytesMax: number): DownloadError {
  return new DownloadError(
    'DownloadTooLargeError',
    `${url}: more than ${bytesMax} bytes (DOWNLOAD_MAXSIZE)`,
    {
      reason: 'body_size',
    },
  )
}
