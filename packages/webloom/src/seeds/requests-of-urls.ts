import { createInterface } from 'node:readline'
import { InvalidUrl, Request, UsageError } from '@webloom/core'

/**
 * Resolves to a GET request without a body for each URL that was typed. `-` reads a URL a line from standard input. Rejects with
 * WL_USAGE for what is not a URL.
 */
export async function requestsOfUrls(urls: readonly string[]): Promise<Request[]> {
  const requests: Request[] = []
  for (const url of urls) {
    if (url !== '-') requests.push(requestOf(url))
    else
      for await (const line of createInterface(process.stdin)) if (line.trim()) requests.push(requestOf(line))
  }
  return requests
}

function requestOf(url: string): Request {
  try {
    return new Request(url.trim())
  } catch (error) {
    if (error instanceof InvalidUrl) throw new UsageError('WL_USAGE', error.message, { cause: error })
    throw error
  }
}
