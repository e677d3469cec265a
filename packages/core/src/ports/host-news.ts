import type { HostNews } from './host-clock.ts'

/** Joins news of a host in the order in which they came: the later count, but of two pauses the longer one. */
export function laterNews(before: HostNews = {}, news: HostNews): HostNews {
  const { pauseMs = 0, pauseReason, ...state } = news
  return { ...before, ...(pauseMs < (before.pauseMs ?? 0) ? state : news) }
}

/**
 * Joins what several components have learned from the same exchange. None of them knows better, so of two delays, too, the longer one
 * counts.
 */
export function strictestNews(first: HostNews = {}, second: HostNews): HostNews {
  const { delayMs = 0 } = first
  return { ...laterNews(first, second), ...((second.delayMs ?? 0) < delayMs && { delayMs }) }
}
